/* Source: BSPlib 1997, Get, note 5
 * Source: bsp_get(3), note 5
 * Claim: A process may get from its own memory; source and destination are read and written at the
 *   end of the superstep.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x = 1, y = 2;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_get(bsp_pid(), &x, 0, &y, sizeof(x));
  EXPECT_EQ(y, 2);
  x = 3;
  bsp_sync();
  EXPECT_EQ(y, 3);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
