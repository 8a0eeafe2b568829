/* Source: PUB 2003, section 4.1.1, statement 2
 * Source: PUB 2003, section 2.4, statement 2
 * Claim: Groups are split again, and closed in the opposite order; each keeps its messages while
 *   those below it take supersteps.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static void Halve(pbsp bsp, int first) {
  t_bsp sub;
  int part[2], p = bsp_nprocs(bsp), me = bsp_pid(bsp), mine = first + me;
  bsp_send(bsp, p - 1 - me, &mine, sizeof mine);
  bsp_sync(bsp);
  if (p > 1) {
    part[0] = p / 2;
    part[1] = p;
    bsp_partition(bsp, &sub, 2, part);
    Halve(&sub, me < part[0] ? first : first + part[0]);
    bsp_done(&sub);
  }
  EXPECT_EQ(bsp_nmsgs(bsp), 1);
  EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(bsp, 0)), first + p - 1 - me);
}

int main(int argc, char **argv) {
  t_bsp bsp;
  PUB_BEGIN(argc, argv, bsp);
  Halve(&bsp, 0);
  Halve(&bsp, 0);
  PUB_END(bsp);
  return 0;
}
