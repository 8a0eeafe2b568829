/* Source: BSPlib 1997, Registration, statement 12
 * Source: BSPlib 1997, Registration, statement 13
 * Claim: The most recent slot that holds the address on the calling process decides the target; the
 *   base address is the target's from that very slot, though it may have a newer one.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x[2] = {-1, -1}, y[2] = {-1, -1}, me, p, got = -1, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  value = 100 + me;
  bsp_push_reg(x, sizeof(x));               /* Slot 0: x, x, ... */
  bsp_push_reg(me == 0 ? y : x, sizeof(x)); /* Slot 1: y, x, ... */
  bsp_sync();
  /* On pid 0, x is in slot 0 only; on the others slot 1 is the newest with x. */
  if (me == 0) bsp_put(p - 1, &value, x, 0, sizeof(int));
  if (me == p - 1) bsp_put(0, &value, x, sizeof(int), sizeof(int));
  bsp_sync();
  if (me == p - 1) EXPECT_EQ(x[0], 100);
  if (me == 0 && p > 1) {
    EXPECT_EQ(y[1], 100 + p - 1);
    EXPECT_EQ(x[1], -1);
  }
  if (me == 0) {
    y[0] = 7;
    x[0] = 8;
  }
  bsp_get(0, x, 0, &got, sizeof(int));
  bsp_sync();
  EXPECT_EQ(got, me == 0 ? 8 : 7);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
