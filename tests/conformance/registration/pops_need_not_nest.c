/* Source: BSPlib 1997, Registration, statement 6
 * Source: BSPlib 1997, Registration, statement 15
 * Claim: Areas may be popped in another order than the reverse of their pushes; the slots of the
 *   other areas stay what they are.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int a = 0, b = 0, c = 0, me, next, prev;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_push_reg(&a, sizeof(a));
  bsp_push_reg(&b, sizeof(b));
  bsp_push_reg(&c, sizeof(c));
  bsp_sync();
  bsp_pop_reg(&a);
  bsp_sync();
  bsp_put(next, &me, &b, 0, sizeof(b));
  bsp_put(next, &me, &c, 0, sizeof(c));
  bsp_sync();
  EXPECT_EQ(b, prev);
  EXPECT_EQ(c, prev);
  bsp_pop_reg(&c);
  bsp_sync();
  b = me + 10;
  bsp_get(next, &b, 0, &c, sizeof(b));
  bsp_sync();
  EXPECT_EQ(c, next + 10);
  bsp_pop_reg(&b);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
