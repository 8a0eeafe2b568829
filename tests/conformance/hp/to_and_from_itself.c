/* Source: BSPlib 1997, Put, note 5
 * Source: BSPlib 1997, Get, note 5
 * Claim: The unbuffered calls may name the calling process too.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x[3] = {1, 2, 3}, y = -1;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  bsp_hpput(bsp_pid(), &x[0], x, sizeof(int), sizeof(int));
  bsp_hpget(bsp_pid(), x, 2 * sizeof(int), &y, sizeof(int));
  bsp_sync();
  EXPECT_EQ(x[1], 1);
  EXPECT_EQ(y, 3);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
