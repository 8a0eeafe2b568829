/* Source: BSPlib 1997, Enquiry, statement 1
 * Source: BSPlib 1997, Enquiry, statement 7
 * Claim: The enquiry functions need no communication: one process may call them while the others
 *   are in a barrier.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int i, last;
  bsp_begin(bsp_nprocs());
  last = bsp_nprocs() - 1;
  for (i = 0; i < 1000 && bsp_pid() == last; i++) {
    EXPECT_EQ(bsp_pid(), last);
    EXPECT_EQ(bsp_nprocs(), last + 1);
    EXPECT(bsp_time() >= 0.0);
  }
  bsp_sync();
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
