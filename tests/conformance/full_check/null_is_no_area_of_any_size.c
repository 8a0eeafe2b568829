/* Source: BSP_CHECK=full, statement 4
 * Claim: NULL is registered with size 0: with another one it is probably meant to be an area.
 * Env: BSP_CHECK=full
 * Exit: 6
 * Stderr: ^bspnow: bsp_push_reg on pid {p - 1}, superstep 1: ident is NULL, and size is 4; .+
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_push_reg(NULL, 0);
  bsp_sync();
  bsp_push_reg(NULL, bsp_pid() == bsp_nprocs() - 1 ? 4 : 0);
  bsp_sync();
  if (bsp_pid() == 0) puts("no error");
  bsp_end();
  return 0;
}
