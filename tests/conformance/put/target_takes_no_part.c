/* Source: BSPlib 1997, DRMA, statement 4
 * Claim: A put needs no call on the target other than bsp_sync.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x = -1, me, last;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  last = bsp_nprocs() - 1;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (me == 0) {
    x = 42;
    bsp_put(last, &x, &x, 0, sizeof(x));
    x = -1;
  }
  bsp_sync();
  EXPECT_EQ(x, me == last ? 42 : -1);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
