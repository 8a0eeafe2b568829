/* Source: BSPlib 1997, Registration, statement 16
 * Claim: Several pops of one superstep are compared one by one, in the order of the calls: x, y on
 *   one process and y, x on another is an error.
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid [0-9]+, superstep 1: .*pops name different slots:
 *   pid 0 .*pid 1.*
 */
#include "bsp.h"

int main(void) {
  int x = 0, y = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_push_reg(&y, sizeof(y));
  bsp_sync();
  bsp_pop_reg(bsp_pid() == 0 ? &x : &y);
  bsp_pop_reg(bsp_pid() == 0 ? &y : &x);
  bsp_sync();
  puts("no error");
  fflush(stdout);
  bsp_end();
  return 0;
}
