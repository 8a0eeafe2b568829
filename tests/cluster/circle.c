/* circle [SECONDS]: pid 0 ends a superstep of one group, and pid 1 of another one, which comes to
 * nothing; with SECONDS it does so after that time of computing, and in the same order. */
#include <pub.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  t_bsp all, first, second;
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &all);
  const struct timespec pause = {argc > 1 ? atoi(argv[1]) : 0, 0};
  bsp_dup(&all, &first);
  if (bsp_pid(&all) != 0 && argc > 1) nanosleep(&pause, NULL); /* tidy: it computes */
  bsp_dup(&first, &second);
  bsp_sync(bsp_pid(&all) == 0 && argc == 1 ? &first : &second);
  bsp_done(&second);
  bsp_sync(&first);
  bsp_done(&first);
  bsplib_done();
  return 0;
}
