/* Source: BSPlib 1997, Starting and finishing, note 1
 * Source: BSPlib 1997, Enquiry, statement 3
 * Claim: Fewer than maxprocs processes may be started, and bsp_nprocs tells how many there are.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int available = bsp_nprocs();
  bsp_begin(1000000);
  EXPECT(bsp_nprocs() >= 1 && bsp_nprocs() <= 1000000);
  EXPECT_EQ(bsp_nprocs(), available);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
