/* Source: bsp_get(3), statement 6
 * Claim: The manual page's cyclic_shift returns the x of the left neighbour: source and destination
 *   of its get are the same variable.
 * Mended: it returns x; the manual page prints "result", which it does not declare.
 */
#include "bsp.h"
#include "expect.h"

/* clang-format off */
int cyclic_shift(int x) {
bsp_push_reg(&x,sizeof(int));
bsp_sync();
bsp_get( (bsp_pid()==0)?(bsp_nprocs()-1):bsp_pid()-1,
&x,0,
&x,
sizeof(int));
bsp_sync();
bsp_pop_reg(&x);
return x;
}
/* clang-format on */

int main(void) {
  int me, p;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  EXPECT_EQ(cyclic_shift(me), (me + p - 1) % p);
  EXPECT_EQ(cyclic_shift(cyclic_shift(me)), (me + 2 * p - 2) % p);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
