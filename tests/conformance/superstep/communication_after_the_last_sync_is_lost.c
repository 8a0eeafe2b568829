/* Source: bsp.h, bsp_end, statement 2
 * Claim: Puts, gets and messages issued between the last bsp_sync and bsp_end have no effect.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, next, x = 1, got = 2, value = 3;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_put(next, &value, &x, 0, sizeof(x));
  bsp_get(next, &x, 0, &got, sizeof(got));
  bsp_send(next, NULL, &value, sizeof(value));
  bsp_end();
  EXPECT_OUTSIDE(x == 1);
  EXPECT_OUTSIDE(got == 2);
  if (me == 0) puts("ok");
  return 0;
}
