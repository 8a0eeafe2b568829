/* Source: BSPlib 1997, Registration, statement 16
 * Claim: Process 0 registers x twice, process 1 registers x and then y; that both then pop x is an
 *   error, because the active registration of x is another slot on each.
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
  bsp_push_reg(bsp_pid() == 0 ? &x : &y, sizeof(x));
  bsp_sync();
  bsp_pop_reg(&x);
  bsp_sync();
  puts("no error");
  fflush(stdout);
  bsp_end();
  return 0;
}
