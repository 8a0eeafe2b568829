/* Source: BSPlib 1997, Registration, note 6
 * Source: semantics, registration, statement 3
 * Claim: A process that registers an area of size 0 can put to and get from the others, though
 *   nothing can be put to or got from it.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, me, p, got = -1;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  x = 100 + me;
  bsp_push_reg(&x, me == 0 ? sizeof(x) : 0);
  bsp_sync();
  if (me == p - 1) bsp_put(0, &me, &x, 0, sizeof(x));
  bsp_get(0, &x, 0, &got, sizeof(x));
  bsp_sync();
  EXPECT_EQ(got, 100);
  EXPECT_EQ(x, me == 0 ? p - 1 : 100 + me);
  bsp_pop_reg(&x);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
