/* Source: PUB 2003, section 2.5, statement 2
 * Claim: bsp_oblsync blocks until n messages have been received, and for nothing else: pid 0 ends
 *   many supersteps of one group before any other process has come to the first of them. What the
 *   others wait for there is a message of another group, which pid 0 sends after that; a barrier
 *   would have all wait for each other.
 */
#include <pub.h>

#include "pub/expect_pub.h"

enum { kAhead = 20 };

int main(int argc, char **argv) {
  t_bsp bsp, dup;
  int me, turn, i;
  PUB_BEGIN(argc, argv, bsp);
  me = bsp_pid(&bsp);
  bsp_dup(&bsp, &dup);
  for (turn = 0; turn < 3; ++turn) {
    if (me != 0) {
      bsp_oblsync(&dup, 1);
      EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&dup, 0)), turn);
    }
    for (i = 0; i < kAhead; ++i) bsp_oblsync(&bsp, 0);
    if (me == 0) {
      if (bsp_nprocs(&dup) > 1) bsp_gsend(&dup, 1, bsp_nprocs(&dup) - 1, &turn, sizeof turn);
      bsp_oblsync(&dup, 0);
    }
  }
  bsp_done(&dup);
  PUB_END(bsp);
  return 0;
}
