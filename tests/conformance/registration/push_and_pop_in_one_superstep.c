/* Source: semantics, pops, statement 2
 * Claim: Pushes and pops of one superstep take effect in the order of the calls: a push that is
 *   popped at once leaves nothing, a pop followed by a push leaves the new extent.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x[2] = {-1, -1}, y = -1, me, next, prev;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_push_reg(x, sizeof(int));
  bsp_push_reg(&y, sizeof(y));
  bsp_sync();
  bsp_push_reg(&y, 0); /* These two leave y as it was. */
  bsp_pop_reg(&y);
  bsp_pop_reg(x); /* These two leave x with its new extent. */
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  bsp_put(next, &me, &y, 0, sizeof(y));
  bsp_put(next, &me, x, sizeof(int), sizeof(int));
  bsp_pop_reg(x);
  bsp_sync();
  EXPECT_EQ(y, prev);
  EXPECT_EQ(x[1], prev);
  bsp_push_reg(x, sizeof(x)); /* No slot of x was left. */
  bsp_pop_reg(x);
  bsp_pop_reg(&y);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
