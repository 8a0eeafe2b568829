/* beyond_count NEXT: pid 0 goes on from a superstep that it ends by a count, of nothing, before
 * pid 1 sends it a message there. NEXT ends the superstep after it on both: oblsync, sync, or end.
 * The job must end with an error, and else prints "ok". */
#include <pub.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void nap_100_ms(void) {
  struct timespec left = {.tv_nsec = 100000000};
  while (nanosleep(&left, &left) != 0) continue; /* tidy: a process that is late */
}

int main(int argc, char **argv) {
  bsplib_saveargs(&argc, &argv);
  t_bsp bsp;
  bsplib_init(BSPLIB_STDPARAMS, &bsp);
  const int self = bsp_pid(&bsp);
  for (int s = 0; s < 20; ++s) bsp_sync(&bsp); /* So that lanes are open. */
  if (self == 1) nap_100_ms();
  if (self == 1) bsp_send(&bsp, 0, &self, sizeof self);
  bsp_oblsync(&bsp, 0);
  if (strcmp(argv[1], "oblsync") == 0) bsp_oblsync(&bsp, 0);
  if (strcmp(argv[1], "sync") == 0) bsp_sync(&bsp);
  if (self == 0) puts("ok");
  bsplib_done();
  return 0;
}
