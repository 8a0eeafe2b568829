/* counted_supersteps SUPERSTEPS BYTES: after a superstep in which every second process sends much
 * to the next one, all end one by a count, of nothing, and go on to send as much again. Prints
 * "ok". */
#include <pub.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char byte_of(int s, int from) { return (unsigned char)(1 + s * 7 + from * 31); }

static void check(const unsigned char *at, int bytes, int s, int from) {
  for (int i = 0; i < bytes; ++i) {
    if (at[i] == byte_of(s, from)) continue;
    printf("superstep %d: byte %d of %d from %d is wrong\n", s, i, bytes, from);
    exit(1);
  }
}

int main(int argc, char **argv) {
  bsplib_saveargs(&argc, &argv);
  t_bsp bsp;
  bsplib_init(BSPLIB_STDPARAMS, &bsp);
  const int supersteps = atoi(argv[1]), bytes = atoi(argv[2]);
  const int self = bsp_pid(&bsp), sends = self % 2 == 0 && self + 1 < bsp_nprocs(&bsp);
  unsigned char *data = malloc((size_t)bytes);
  for (int s = 0; s < 20; ++s) bsp_sync(&bsp); /* So that lanes are open. */
  for (int s = 0; s < supersteps; ++s) {
    memset(data, byte_of(s, self), (size_t)bytes);
    if (sends) bsp_send(&bsp, self + 1, data, bytes);
    bsp_sync(&bsp);
    if (self % 2 == 1) check(bspmsg_data(bsp_getmsg(&bsp, 0)), bytes, s, self - 1);
    bsp_oblsync(&bsp, 0);
  }
  if (self == 0) puts("ok");
  bsplib_done();
  return 0;
}
