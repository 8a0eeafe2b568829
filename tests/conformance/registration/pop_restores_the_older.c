/* Source: BSPlib 1997, Registration, statement 5
 * Source: semantics, pops, statement 3
 * Claim: A newer registration replaces an older one of the same address for a time: after its pop
 *   the older one is valid again, with its own partners and extents.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int a[2] = {-1, -1}, b[2] = {-1, -1}, *other, me, p, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  value = 100 + me;
  bsp_push_reg(a, sizeof(a)); /* Slot 0: a everywhere. */
  bsp_sync();
  other = me == 0 ? a : b; /* Slot 1: a on pid 0 is paired with b elsewhere. */
  bsp_push_reg(other, sizeof(int));
  bsp_sync();
  if (me == 0) bsp_put(p - 1, &value, a, 0, sizeof(int));
  bsp_sync();
  if (me == p - 1) EXPECT_EQ(other[0], 100);
  if (me == p - 1 && p > 1) EXPECT_EQ(a[0], -1);
  bsp_pop_reg(other);
  bsp_sync();
  if (me == 0) bsp_put(p - 1, &value, a, sizeof(int), sizeof(int));
  bsp_sync();
  if (me == p - 1) EXPECT_EQ(a[1], 100);
  if (me == p - 1 && p > 1) EXPECT_EQ(b[1], -1);
  bsp_pop_reg(a);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
