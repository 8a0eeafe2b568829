/* Source: BSPlib 1997, Starting and finishing, statement 2
 * Source: BSPlib 1997, Starting and finishing, note 2
 * Claim: There is no nested parallelism: a bsp_begin between bsp_begin and bsp_end is an error.
 * Exit: 6
 * Stderr: ^bspnow: bsp_begin on pid {p - 1}, superstep 1: .+
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) bsp_begin(1);
  bsp_sync();
  bsp_end();
  return 0;
}
