/* Source: BSPlib 1997, Put, statement 9
 * Claim: The paper's reverse(x) returns on process i the x of process p - i - 1; called twice it
 *   gives x back. The source and the target of its put are the same variable.
 */
#include "bsp.h"
#include "expect.h"

/* clang-format off */
int reverse(int x) {
    bsp_push_reg(&x, sizeof(int));
    bsp_sync();

    bsp_put(bsp_nprocs()-bsp_pid()-1, &x, &x, 0, sizeof(int));
    bsp_sync();
    bsp_pop_reg(&x);
    return x;
}
/* clang-format on */

int main(void) {
  int me, p, there;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  there = reverse(100 + me);
  EXPECT_EQ(there, 100 + p - me - 1);
  EXPECT_EQ(reverse(there), 100 + me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
