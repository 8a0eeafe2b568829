/* uneven SUPERSTEPS PUT_BYTES: in each superstep process 0 puts that many bytes to process 1, and
 * process 1 gets 8 from process 0: a superstep that one node could send as it is, and another not.
 * Ends with status 1 if a byte is wrong. */
#include <bsp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  bsp_begin(2);
  const int supersteps = argc == 3 ? atoi(argv[1]) : 0, bytes = argc == 3 ? atoi(argv[2]) : 0;
  unsigned char *area = malloc((size_t)bytes), *source = malloc((size_t)bytes);
  int64_t count = 0, got = 0;
  if (supersteps <= 0 || bytes <= 0 || !area || !source) bsp_abort("uneven SUPERSTEPS PUT_BYTES\n");
  bsp_push_reg(area, bytes);
  bsp_push_reg(&count, sizeof count);
  bsp_sync();
  for (int i = 0; i < supersteps; ++i) {
    count = i;
    if (bsp_pid() == 0) {
      memset(source, i & 255, (size_t)bytes);
      bsp_put(1, source, area, 0, bytes);
    } else {
      bsp_get(0, &count, 0, &got, sizeof got);
    }
    bsp_sync();
    if (bsp_pid() == 1 && (got != i || area[0] != (i & 255) || area[bytes - 1] != (i & 255)))
      bsp_abort("superstep %d: a byte is wrong\n", i);
  }
  bsp_end();
  return 0;
}
