/* Source: BSPlib 1997, Put, note 5
 * Claim: A process may put into its own memory; the copy is made at the end of the superstep.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x = 1, y = 2;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_put(bsp_pid(), &y, &x, 0, sizeof(x));
  y = 3;
  EXPECT_EQ(x, 1);
  bsp_sync();
  EXPECT_EQ(x, 2);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
