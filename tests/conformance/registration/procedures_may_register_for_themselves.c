/* Source: BSPlib 1997, Registration, statement 5
 * Source: BSPlib 1997, Put, statement 9
 * Claim: A procedure that pushes, uses and pops an area which its caller has registered too leaves
 *   the caller's registration as it was, at the next bsp_sync.
 */
#include "bsp.h"
#include "expect.h"

static void Shift(int *x) {
  bsp_push_reg(x, sizeof(int));
  bsp_sync();
  bsp_put((bsp_pid() + 1) % bsp_nprocs(), x, x, 0, sizeof(int));
  bsp_sync();
  bsp_pop_reg(x);
}

int main(void) {
  int x[2], me, p;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  x[0] = me;
  x[1] = -1;
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  Shift(x);
  Shift(x);
  bsp_sync();
  EXPECT_EQ(x[0], (me + 2 * p - 2) % p);
  bsp_put((me + 1) % p, &me, x, sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT_EQ(x[1], (me + p - 1) % p);
  bsp_pop_reg(x);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
