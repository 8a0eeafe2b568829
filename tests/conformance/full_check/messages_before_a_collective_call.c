/* Source: BSP_CHECK=full, statement 6
 * Claim: A message that a collective call would lose is an error.
 * Env: BSP_CHECK=full
 * Procs: 2 4
 * Exit: 6
 * Stderr: ^bspnow: bsp_sumI on pid 1, superstep 1: a message that was sent in the superstep which
 *   this call ends would be lost; .+
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(void) {
  int x = 1;
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) bsp_send(1, NULL, &x, sizeof x);
  bsp_sumI(x);
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
