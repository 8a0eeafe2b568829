/* Source: BSPlib 1997, Registration, statement 7
 * Source: BSPlib 1997, Registration, note 1
 * Claim: A push takes effect at the next barrier: puts of the same superstep, before and after it,
 *   still go by the older slot of that address.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int a[2] = {-1, -1}, b[2] = {-1, -1}, c[2] = {-1, -1}, *other, me, last;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  last = bsp_nprocs() - 1;
  bsp_push_reg(a, sizeof(a));
  bsp_push_reg(c, sizeof(c));
  bsp_sync();
  other = me == 0 ? a : b;
  if (me == 0) bsp_put(last, &last, a, 0, sizeof(int));
  bsp_push_reg(other, sizeof(b));
  bsp_push_reg(c, 0);
  if (me == 0) bsp_put(last, &last, c, 0, sizeof(int)); /* The first use of c. */
  if (me == 0) bsp_put(last, &last, a, sizeof(int), sizeof(int));
  bsp_sync();
  if (me == last) {
    EXPECT_EQ(a[0], last);
    EXPECT_EQ(a[1], last);
    EXPECT_EQ(c[0], last);
    EXPECT_EQ(b[0], -1);
    EXPECT_EQ(b[1], -1);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
