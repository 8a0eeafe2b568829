/* Source: dialects, PUB, statement 1
 * Claim: A program begins by bsplib_init and ends by bsplib_done, on all processes of the job;
 *   calls after it are errors, and so is to leave without it.
 * Cases: right late unended
 * Exit if case != 'right': 6
 * Stderr if case == 'late': ^bspnow: bsp_pid on pid \d+ after bsplib_done: call it before
 *   bsplib_done, .+
 * Stderr if case == 'unended': ^bsprun: pid \d+ \(OS pid \d+ on .+\) left without bsp_end in
 *   superstep 1 \(exit status 0\); every process must call bsp_end \(in PUB bsplib_done\), .+
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
  if (argc > 1 && argv[1][0] == 'u') return 0;
  bsplib_done();
  if (late) i = bsp_pid(&bsp);
  if (i == 0) puts("ok");
  return 0;
}
