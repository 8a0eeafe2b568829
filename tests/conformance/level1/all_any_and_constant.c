/* Source: Oxford toolset, level 1, statement 6
 * Claim: bsp_all tells whether no process gave 0, bsp_any whether one did not, bsp_constantI
 *   whether all gave the same; 1 or 0, on all processes.
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(void) {
  int call, p, me;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  for (call = 0; call < kCalls; call++) {
    int odd = Draw(p), other = Draw(1000) - 500;
    EXPECT_EQ(bsp_all(-4), 1);
    EXPECT_EQ(bsp_all(me == odd ? 0 : me + 1), 0);
    EXPECT_EQ(bsp_any(0), 0);
    EXPECT_EQ(bsp_any(me == odd ? 4 : 0), 1);
    EXPECT_EQ(bsp_constantI(other), 1);
    EXPECT_EQ(bsp_constantI(me == odd ? other + 1 : other), p == 1);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
