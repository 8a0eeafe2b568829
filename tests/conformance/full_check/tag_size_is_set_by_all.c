/* Source: BSP_CHECK=full, statement 3
 * Claim: bsp_set_tagsize must be called by all processes, even if its value changes nothing.
 * Procs: 2 4 7
 * Env: BSP_CHECK=full
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid [0-9]+, superstep 1: only one of pid 0 and pid {p - 1} has
 *   called bsp_set_tagsize; .+
 */
#include "bsp.h"

int main(void) {
  int size = 0;
  bsp_begin(bsp_nprocs());
  bsp_set_tagsize(&size);
  bsp_sync();
  if (bsp_pid() != bsp_nprocs() - 1) bsp_set_tagsize(&size);
  bsp_sync();
  if (bsp_pid() == 0) puts("no error");
  bsp_end();
  return 0;
}
