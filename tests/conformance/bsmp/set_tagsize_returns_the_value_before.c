/* Source: BSPlib 1997, Tag size, statement 3
 * Source: semantics, tag size, statement 1
 * Claim: bsp_set_tagsize returns the value set by the call before it, in this superstep or an
 *   earlier one, and 0 at first.
 */
#include "bsp.h"
#include "expect.h"

static void Set(int nbytes, int before) {
  int size = nbytes;
  bsp_set_tagsize(&size);
  EXPECT_EQ(size, before);
}

int main(void) {
  bsp_begin(bsp_nprocs());
  Set(4, 0);
  bsp_sync();
  Set(8, 4);
  Set(16, 8);
  bsp_sync();
  bsp_sync();
  Set(0, 16);
  Set(2, 0);
  bsp_sync();
  Set(0, 2);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
