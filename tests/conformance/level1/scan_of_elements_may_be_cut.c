/* Source: semantics, collectives, statement 6
 * Claim: bsp_scan_elements combines vectors as bsp_scan does, element by element, in the order of
 *   pids, whether it cuts them or not; also vectors of fewer elements than there are processes.
 * Cases: free direct tree two-phase pipeline
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "level1/composition.h"

static void ScanMaps(void (*op)(void *, void *, void *, int *), void *src, void *dst, int nbytes) {
  bsp_scan_elements(op, src, dst, nbytes / (int)sizeof(Map), (int)sizeof(Map));
}

int main(void) {
  bsp_begin(bsp_nprocs());
  CheckReductions(ScanMaps, bsp_pid() + 1);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
