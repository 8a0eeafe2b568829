/* Source: BSPlib 1997, Enquiry, statement 9
 * Claim: Each process has a timer of its own, which runs on from superstep to superstep and never
 *   goes back.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  double last = 0.0, now;
  int superstep, i;
  bsp_begin(bsp_nprocs());
  for (superstep = 0; superstep < 10; superstep++) {
    for (i = 0; i < 100; i++) {
      now = bsp_time();
      EXPECT(now >= last);
      last = now;
    }
    bsp_sync();
  }
  EXPECT(last > 0.0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
