/* Source: BSPlib 1997, Enquiry, statement 3
 * Claim: After bsp_begin, bsp_nprocs gives the number of processes that were started, at most
 *   maxprocs, the same on all of them and in every superstep.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int maxprocs = (bsp_nprocs() + 1) / 2, superstep;
  bsp_begin(maxprocs);
  for (superstep = 0; superstep < 3; superstep++) {
    EXPECT_EQ(bsp_nprocs(), maxprocs);
    bsp_sync();
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
