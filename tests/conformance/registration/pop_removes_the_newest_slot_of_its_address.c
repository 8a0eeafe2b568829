/* Source: BSPlib 1997, Registration, statement 15
 * Source: semantics, pops, statement 3
 * Claim: With three slots of one address, each pop removes the newest that is left, and the extent
 *   of the next older one counts.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  char area[3] = {0, 0, 0}, data = 1;
  int extent, next;
  bsp_begin(bsp_nprocs());
  next = (bsp_pid() + 1) % bsp_nprocs();
  bsp_push_reg(area, 3);
  bsp_push_reg(area, 2);
  bsp_push_reg(area, 1);
  bsp_sync();
  for (extent = 1; extent <= 3; extent++) {
    bsp_put(next, &data, area, extent - 1, 1); /* Beyond the extent of every newer slot. */
    bsp_pop_reg(area);
    bsp_sync();
    EXPECT_EQ(area[extent - 1], 1);
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
