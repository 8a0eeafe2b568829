/* Source: semantics, PUB, statement 4
 * Claim: NULL stands for an area that is not used: rbuf of a reduction where the result is not
 *   stored, both areas on a process that is no member.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, x, sum = -1, prefix = -1, first;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  first = p / 2; /* The first of the members. */
  x = me;
  bsp_greduce(&bsp, first, p - 1, me < first ? NULL : &x, me == p - 1 ? &sum : NULL, 1,
              bspop_addint, NULL);
  bsp_gscan(&bsp, first, p - 1, me < first ? NULL : &x, me < first ? NULL : &prefix, 1,
            bspop_addint, NULL);
  bsp_oblsync(&bsp, me < first ? 0 : 2);
  EXPECT_EQ(sum, me == p - 1 ? (p - first) * (first + p - 1) / 2 : -1);
  EXPECT_EQ(prefix, me < first ? -1 : (me - first + 1) * (first + me) / 2);
  PUB_END(bsp);
  return 0;
}
