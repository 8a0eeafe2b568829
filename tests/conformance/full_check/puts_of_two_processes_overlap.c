/* Source: BSP_CHECK=full, statement 1
 * Claim: Puts of two processes that overlap are an error that names both calls.
 * Procs: 2 4 7
 * Env: BSP_CHECK=full
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid 1, superstep 1: puts overlap in 2 bytes at 0x[0-9a-f]+ on pid 1:
 *   pid 0 put there at (\S*\.c:17|\S*\+0x\w+),
 *   pid 1 at (\S*\.c:18|\S*\+0x\w+); .+
 */
#include "bsp.h"

int main(void) {
  char area[8] = "", x[8] = "";
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, 8);
  bsp_sync();
  if (bsp_pid() == 0) bsp_put(1, x, area, 0, 4);
  if (bsp_pid() == 1) bsp_put(1, x, area, 2, 4);
  bsp_sync();
  bsp_sync(); /* Only one process finds the error, and ends the others. */
  puts("no error");
  bsp_end();
  return 0;
}
