/* Source: Oxford toolset, level 1, statement 5
 * Claim: bsp_scan combines the values of processes 0 to this one, in their order.
 * Cases: free direct tree two-phase pipeline read
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "level1/composition.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  CheckReductions(bsp_scan, bsp_pid() + 1);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
