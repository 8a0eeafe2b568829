/* Source: dialects, PUB, statement 1
 * Claim: A program begins by bsplib_init and ends by bsplib_done, on all processes of the job;
 *   calls after it are errors.
 * Cases: right late
 * Exit if case == 'late': 6
 * Stderr if case == 'late': ^bspnow: bsp_pid on pid \d+ after bsplib_done: call it before
 *   bsplib_done, .+
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int late = argc > 1 && argv[1][0] == 'l', i, p;
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &bsp);
  p = bsp_nprocs(&bsp);
  i = bsp_pid(&bsp);
  bsp_send(&bsp, 0, &i, sizeof i);
  bsp_sync(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), i == 0 ? p : 0);
  bsplib_done();
  if (late) i = bsp_pid(&bsp);
  if (i == 0) puts("ok");
  return 0;
}
