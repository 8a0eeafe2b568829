/* Source: PUB 2003, section 2.4, statement 3
 * Source: PUB 2003, section 2.4, statement 5
 * Claim: bsp_partition makes n groups of the processors [0, part[0] - 1], [part[0], part[1] - 1],
 *   and so on; there bsp_pid and bsp_nprocs give the pid in the group, from 0, and its size. A
 *   group may be empty.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int part[4], p, me, first, size;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  part[0] = p / 4;
  part[1] = part[0]; /* Nobody. */
  part[2] = (3 * p + 3) / 4;
  part[3] = p;
  bsp_partition(&bsp, &sub, 4, part);
  first = me < part[0] ? 0 : me < part[2] ? part[1] : part[2];
  size = (me < part[0] ? part[0] : me < part[2] ? part[2] : part[3]) - first;
  EXPECT_EQ(bsp_pid(&sub), me - first);
  EXPECT_EQ(bsp_nprocs(&sub), size);
  EXPECT_EQ(bsp_pid(&bsp), me);
  EXPECT_EQ(bsp_nprocs(&bsp), p);
  bsp_done(&sub);
  PUB_END(bsp);
  return 0;
}
