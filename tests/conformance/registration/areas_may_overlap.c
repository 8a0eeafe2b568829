/* Source: Q&A 1996, DRMA, statement 3
 * Claim: Overlapping areas, each with a start of its own, may be registered in several slots.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x[4] = {-1, -1, -1, -1}, me, next, prev, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_push_reg(x, sizeof(x));
  bsp_push_reg(x + 2, 2 * sizeof(int));
  bsp_sync();
  value = 10 + me;
  bsp_put(next, &value, x, 3 * sizeof(int), sizeof(int));
  value = 20 + me;
  bsp_put(next, &value, x + 2, 0, sizeof(int));
  bsp_sync();
  EXPECT_EQ(x[1], -1);
  EXPECT_EQ(x[2], 20 + prev);
  EXPECT_EQ(x[3], 10 + prev);
  bsp_pop_reg(x); /* The other slot stays. */
  bsp_sync();
  bsp_put(next, &value, x + 2, sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT_EQ(x[3], 20 + prev);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
