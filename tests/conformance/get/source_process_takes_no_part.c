/* Source: BSPlib 1997, DRMA, statement 5
 * Claim: A get reaches into the memory of another process, which calls nothing but bsp_sync.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, got = -1, me, last;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  last = bsp_nprocs() - 1;
  x = 100 + me;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (me == 0) bsp_get(last, &x, 0, &got, sizeof(x));
  bsp_sync();
  EXPECT_EQ(got, me == 0 ? 100 + last : -1);
  EXPECT_EQ(x, 100 + me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
