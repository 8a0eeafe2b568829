/* Source: bspnow, errors, statement 1
 * Claim: An error names the call, the process and the superstep, counted from 0 at bsp_begin.
 * Exit: 6
 * Stderr: ^bspnow: bsp_put on pid {p // 2}, superstep 12: .*nbytes is -1.*; .+
 */
#include "bsp.h"

int main(void) {
  int superstep, x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  for (superstep = 0; superstep < 20; superstep++) {
    if (superstep == 12 && bsp_pid() == bsp_nprocs() / 2) bsp_put(0, &x, &x, 0, -1);
    bsp_sync();
  }
  bsp_end();
  return 0;
}
