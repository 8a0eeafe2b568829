/* Source: BSPlib 1997, Registration, statement 4
 * Claim: A newer, smaller extent of the same address counts for the bounds, not the older one.
 * Exit: 6
 * Stderr: ^bspnow: bsp_put on pid 0, superstep 2:
 *   .*offset 4 \+ 4 bytes is beyond the 4 bytes registered
 */
#include "bsp.h"

int main(void) {
  int area[4] = {0, 0, 0, 0};
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  bsp_push_reg(area, sizeof(int));
  bsp_sync();
  if (bsp_pid() == 0) bsp_put(bsp_nprocs() - 1, area, area, sizeof(int), sizeof(int));
  bsp_sync();
  bsp_end();
  return 0;
}
