/* Source: semantics, dialects, statement 5
 * Claim: A process that ends a section while others are in bsp_sync is an error, which names it.
 * Procs: 2 4
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid [0-9]+, superstep [0-9]+: only one of pid 0 and pid [0-9]+ has
 *   called bsp_end; call it on all processes, in the same superstep
 */
#include "mcbsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_end();
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 1) bsp_sync();
  bsp_end();
  bsp_begin(bsp_nprocs());
  bsp_end();
  return 0;
}
