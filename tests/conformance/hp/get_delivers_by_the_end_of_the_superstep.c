/* Source: BSPlib 1997, Get, statement 5
 * Source: bsp_get(3), statement 3
 * Claim: bsp_hpget has fetched its bytes when bsp_sync returns if nobody touches source and
 *   destination during the superstep.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, got[64], me, p, pid;
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  x = 100 + me;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  for (pid = 0; pid < p; pid++) bsp_hpget(pid, &x, 0, &got[pid], sizeof(x));
  bsp_sync();
  for (pid = 0; pid < p; pid++) EXPECT_EQ(got[pid], 100 + pid);
  EXPECT_EQ(x, 100 + me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
