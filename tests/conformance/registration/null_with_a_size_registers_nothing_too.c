/* Source: BSPlib 1997, Registration, note 5
 * Source: semantics, registration, statement 1
 * Claim: NULL may be registered with any size, by all processes too, and several times; each pop of
 *   NULL removes one such slot.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x = -1, me, next, prev;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_push_reg(NULL, 4);
  bsp_push_reg(&x, sizeof(x));
  bsp_push_reg(NULL, 0);
  bsp_sync();
  bsp_put(next, &me, &x, 0, sizeof(x));
  bsp_pop_reg(NULL);
  bsp_sync();
  EXPECT_EQ(x, prev);
  bsp_pop_reg(NULL);
  bsp_sync();
  bsp_put(next, &next, &x, 0, sizeof(x));
  bsp_sync();
  EXPECT_EQ(x, me);
  bsp_pop_reg(&x);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
