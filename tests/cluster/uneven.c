/* uneven SUPERSTEPS PUT_BYTES GET_BYTES: in each superstep process 0 puts that many bytes to
 * process 1, which gets GET_BYTES from process 0. With a few to put and many to get one node could
 * send the superstep as it is, and the other one not. Ends with status 1 if a byte is wrong. */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  bsp_begin(2);
  const int supersteps = argc == 4 ? atoi(argv[1]) : 0, bytes = argc == 4 ? atoi(argv[2]) : 0;
  const int asked = argc == 4 ? atoi(argv[3]) : 0;
  if (supersteps <= 0 || bytes <= 0 || asked <= 0) bsp_abort("uneven SUPERSTEPS PUT GET\n");
  unsigned char *area = malloc((size_t)bytes), *source = malloc((size_t)bytes);
  unsigned char *held = malloc((size_t)asked), *got = malloc((size_t)asked);
  if (!area || !source || !held || !got) bsp_abort("no memory\n");
  bsp_push_reg(area, bytes);
  bsp_push_reg(held, asked);
  bsp_sync();
  for (int i = 0; i < supersteps; ++i) {
    memset(held, i & 255, (size_t)asked);
    if (bsp_pid() == 0) {
      memset(source, i & 255, (size_t)bytes);
      bsp_put(1, source, area, 0, bytes);
    } else {
      bsp_get(0, held, 0, got, asked);
    }
    bsp_sync();
    const int wanted = i & 255;
    if (bsp_pid() == 1 && (got[0] != wanted || got[asked - 1] != wanted || area[0] != wanted ||
                           area[bytes - 1] != wanted))
      bsp_abort("superstep %d: a byte is wrong\n", i);
  }
  bsp_end();
  return 0;
}
