/* Source: semantics, pops, statement 2
 * Claim: An area pushed and popped in the same superstep is not registered afterwards.
 * Exit: 6
 * Stderr: ^bspnow: bsp_put on pid 0, superstep 1: .*dst 0x[0-9a-f]+ is not registered.*; .+
 */
#include "bsp.h"

int main(void) {
  int x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_pop_reg(&x);
  bsp_sync();
  if (bsp_pid() == 0) bsp_put(bsp_nprocs() - 1, &x, &x, 0, sizeof(x));
  bsp_sync();
  bsp_end();
  return 0;
}
