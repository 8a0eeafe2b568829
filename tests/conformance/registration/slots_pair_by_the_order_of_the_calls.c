/* Source: BSPlib 1997, Registration, statement 11
 * Source: BSPlib 1997, Registration, statement 12
 * Source: Q&A 1996, DRMA, statement 2
 * Claim: The n-th push of every process belongs to the same slot, whatever the areas are called: a
 *   and b pushed in the other order on pid 0 are exchanged there.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int a = -1, b = -1, me, p, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  bsp_push_reg(me == 0 ? &b : &a, sizeof(int));
  bsp_push_reg(me == 0 ? &a : &b, sizeof(int));
  bsp_sync();
  value = 1;
  if (me == 0) bsp_put(p - 1, &value, &a, 0, sizeof(int));
  value = 2;
  if (me == 0) bsp_put(p - 1, &value, &b, 0, sizeof(int));
  bsp_sync();
  if (me == p - 1) {
    EXPECT_EQ(a, p > 1 ? 2 : 1);
    EXPECT_EQ(b, p > 1 ? 1 : 2);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
