/* Source: BSPlib 1997, Enquiry, statement 6
 * Claim: bsp_time tells times apart that are less than 0.1 ms apart.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  double smallest = 1.0, last, now;
  int i;
  bsp_begin(bsp_nprocs());
  last = bsp_time();
  for (i = 0; i < 1000; i++) {
    now = bsp_time();
    if (now > last && now - last < smallest) smallest = now - last;
    last = now;
  }
  EXPECT(smallest < 1e-4);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
