/* Source: MulticoreBSP, calls, statement 6
 * Claim: Without bsp_init the value that counts in bsp_begin is that of pid 0, in each section.
 */
#include "expect.h"
#include "mcbsp.h"

int main(void) {
  const unsigned n = bsp_nprocs();
  unsigned p = 0, is_first = 1;
  int section;
  for (section = 0; section < 3; ++section) {
    if (is_first) p = n;
    bsp_begin(p);
    is_first = bsp_pid() == 0;
    p = 0;
    EXPECT_EQ(bsp_nprocs(), n);
    bsp_sync();
    bsp_end();
  }
  if (is_first) puts("ok");
  return 0;
}
