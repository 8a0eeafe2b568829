/* Source: semantics, dialects, statement 8
 * Claim: Areas of checkpoints are registered in an SPMD section of all processes that is not within
 *   another.
 * Exit: 6
 * Stderr: ^bspnow: bsp_checkpoint_register on pid \d+, superstep \d+: the SPMD section has 1 of the
 *   job's {p} processes, or is within another; call it in one of all that is not
 */
#include "mcbsp.h"

int main(void) {
  int area = 0;
  bsp_begin(bsp_nprocs());
  bsp_begin(1);
  bsp_checkpoint_register(&area, sizeof area);
  bsp_end();
  bsp_end();
  puts("no error");
  return 0;
}
