/* Source: BSPlib 1997, Get, statement 3
 * Source: bsp_get(3), statement 2
 * Source: semantics, order, statement 3
 * Claim: What a get brings is written before what puts bring: where both have one destination the
 *   put's value stays, whoever puts, and whichever call is the earlier.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int source, x[2] = {-1, -1}, me, next, prev, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  source = 100 + me;
  value = 200 + me;
  bsp_push_reg(&source, sizeof(source));
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  bsp_put(next, &value, x, 0, sizeof(int));
  bsp_get(next, &source, 0, &x[0], sizeof(int));
  bsp_get(prev, &source, 0, &x[1], sizeof(int));
  bsp_put(prev, &value, x, sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT_EQ(x[0], 200 + prev);
  EXPECT_EQ(x[1], 200 + next);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
