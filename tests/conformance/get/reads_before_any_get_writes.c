/* Source: BSPlib 1997, Get, statement 3
 * Source: BSPlib 1997, Get, statement 4
 * Claim: All gets are read before any get writes: with the source of one as destination of another
 *   the values move on by one process, and no further.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, me, p, superstep;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  x = me;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  for (superstep = 1; superstep <= 3; superstep++) {
    bsp_get((me + 1) % p, &x, 0, &x, sizeof(x));
    bsp_sync();
    EXPECT_EQ(x, (me + superstep) % p);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
