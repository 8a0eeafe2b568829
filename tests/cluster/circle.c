/* circle [SECONDS]: pid 0 ends a superstep of one group, and pid 1 of another one, which comes to
 * nothing; with SECONDS it does so after that time of computing, and in the same order.
 * circle counts SUPERSTEPS: after that many of all, pid 0 ends two by counts before it sends what
 * pid 1 waits for in a group before it does: on one node that is well. */
#include <pub.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void count_in_two_groups(int supersteps) {
  t_bsp all, group;
  bsplib_init(BSPLIB_STDPARAMS, &all);
  int self = bsp_pid(&all);
  bsp_dup(&all, &group);
  for (int s = 0; s < supersteps; ++s) bsp_sync(&all);
  if (self == 1) bsp_oblsync(&group, 1);
  bsp_oblsync(&all, 0);
  bsp_oblsync(&all, 0);
  if (self == 0) bsp_send(&group, 1, &self, sizeof self);
  if (self == 0) bsp_oblsync(&group, 0);
  bsp_done(&group);
  bsplib_done();
}

int main(int argc, char **argv) {
  t_bsp all, first, second;
  bsplib_saveargs(&argc, &argv);
  if (argc > 2 && strcmp(argv[1], "counts") == 0) return count_in_two_groups(atoi(argv[2])), 0;
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
