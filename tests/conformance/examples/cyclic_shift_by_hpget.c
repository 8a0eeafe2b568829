/* Source: bsp_get(3), statement 7
 * Claim: The manual page's cyclic_shift with bsp_hpget returns the x of the left neighbour too.
 * Mended: it pops x, which it has pushed; the manual page pops result.
 */
#include "bsp.h"
#include "expect.h"

/* clang-format off */
int cyclic_shift(int x) {
int result;
bsp_push_reg(&x,sizeof(int));
bsp_sync();
bsp_hpget( (bsp_pid()==0)?(bsp_nprocs()-1):bsp_pid()-1,
&x,0,
&result,
sizeof(int));
bsp_sync();
bsp_pop_reg(&x);
return result;
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
