/* Source: BSPlib 1997, Registration, statement 4
 * Claim: The same address may be registered again with another extent, which then counts.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int area[4] = {0, 0, 0, 0}, me, next;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  bsp_push_reg(area, sizeof(int));
  bsp_sync();
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  me++;
  bsp_put(next, &me, area, 3 * sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT_EQ(area[3] % bsp_nprocs(), bsp_pid());
  EXPECT(area[3] > 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
