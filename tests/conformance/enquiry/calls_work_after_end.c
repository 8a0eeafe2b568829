/* Source: BSPlib 1997, Enquiry, statement 7
 * Source: bsp.h, enquiry, statement 1
 * Claim: bsp_time can be called at any point after bsp_begin, behind bsp_end too; so can bsp_pid
 *   and bsp_nprocs.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p;
  double ended;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  ended = bsp_time();
  bsp_end();
  EXPECT_OUTSIDE(bsp_time() >= ended);
  EXPECT_OUTSIDE(bsp_pid() == me);
  EXPECT_OUTSIDE(bsp_nprocs() == p);
  if (me == 0) puts("ok");
  return 0;
}
