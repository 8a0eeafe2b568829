/* Source: Oxford toolset, level 1, statement 4
 * Claim: bsp_fold combines the values of all processes in the order of their pids, though the
 *   operation does not commute, and all have the result; result, left and right never overlap.
 * Cases: free direct tree two-phase pipeline read
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "level1/composition.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  CheckReductions(bsp_fold, bsp_nprocs());
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
