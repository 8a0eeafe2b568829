/* Source: BSPlib 1997, Registration, note 5
 * Source: semantics, registration, statement 1
 * Claim: A process that has nothing to register registers NULL; the others use their slot among
 *   themselves.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x = -1, me, p, even, got = -1;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  even = me % 2 == 0;
  bsp_push_reg(even ? &x : NULL, even ? sizeof(x) : 0);
  bsp_sync();
  if (even) bsp_put(0, &me, &x, 0, sizeof(x));
  bsp_sync();
  if (me == 0) EXPECT_EQ(x, p % 2 == 0 ? p - 2 : p - 1);
  if (even) bsp_get(0, &x, 0, &got, sizeof(x));
  bsp_sync();
  EXPECT_EQ(got, !even ? -1 : p % 2 == 0 ? p - 2 : p - 1);
  bsp_pop_reg(even ? &x : NULL);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
