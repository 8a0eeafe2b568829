/* Source: PUB 2003, section 3.2, statement 6
 * Claim: DRMA is BSPlib's but for the parameter: all gets of a superstep read before any put
 *   writes, sources of puts are read when the call is made, colliding puts are written in the order
 *   of their pids, a put or get of 0 bytes does nothing; on any object.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static void Exchange(pbsp bsp, int base) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), right = (me + 1) % p, left = (me + p - 1) % p;
  int x = base + me, all[2], got = -1, value, i;
  all[0] = all[1] = -1;
  bsp_push_reg(bsp, &x, sizeof x);
  bsp_push_reg(bsp, all, sizeof all);
  bsp_sync(bsp);
  value = base + 1000 + me;
  bsp_put(bsp, right, &value, &x, 0, sizeof value);
  value = -7;
  bsp_get(bsp, right, &x, 0, &got, sizeof got);
  for (i = 0; i < p; ++i) bsp_put(bsp, i, &me, all, sizeof(int), sizeof me);
  bsp_put(bsp, right, NULL, &value, 5, 0);
  bsp_get(bsp, right, &value, 5, NULL, 0);
  EXPECT_EQ(x, base + me);
  x = base + 500 + me; /* What the get reads. */
  bsp_sync(bsp);
  EXPECT_EQ(got, base + 500 + right);
  EXPECT_EQ(x, base + 1000 + left);
  EXPECT_EQ(all[0], -1);
  EXPECT_EQ(all[1], p - 1);
  bsp_pop_reg(bsp, all);
  bsp_pop_reg(bsp, &x);
  bsp_sync(bsp);
}

int main(int argc, char **argv) {
  t_bsp bsp, sub, copy;
  int part[2];
  PUB_BEGIN(argc, argv, bsp);
  part[0] = (bsp_nprocs(&bsp) + 1) / 2;
  part[1] = bsp_nprocs(&bsp);
  Exchange(&bsp, 0);
  bsp_partition(&bsp, &sub, 2, part);
  Exchange(&sub, 10000);
  bsp_dup(&sub, &copy);
  Exchange(&copy, 20000);
  bsp_done(&copy);
  bsp_done(&sub);
  Exchange(&bsp, 30000);
  PUB_END(bsp);
  return 0;
}
