/* Source: PUB 2003, section 1.1, statement 1
 * Claim: With a switch the library takes BSPlib programs: pub.h is then bsp.h.
 */
#define PUB_BSPLIB
#include <pub.h>

#include "expect.h"

int main(void) {
  int left = -1, pid;
  bsp_begin(bsp_nprocs());
  pid = bsp_pid();
  bsp_push_reg(&left, sizeof left);
  bsp_sync();
  bsp_put((pid + 1) % bsp_nprocs(), &pid, &left, 0, sizeof pid);
  bsp_sync();
  EXPECT_EQ(left, (pid + bsp_nprocs() - 1) % bsp_nprocs());
  if (pid == 0) puts("ok");
  bsp_end();
  return 0;
}
