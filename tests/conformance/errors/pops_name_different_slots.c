/* Source: BSPlib 1997, Registration, statement 9
 * Source: semantics, mismatches, statement 1
 * Claim: It is an error if the addresses given to bsp_pop_reg belong to different slots.
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid [0-9]+, superstep 1: .*pops name different slots:
 *   pid 0 .*pid {p - 1}.*
 */
#include "bsp.h"

int main(void) {
  int x = 0, y = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_push_reg(&y, sizeof(y));
  bsp_sync();
  bsp_pop_reg(bsp_pid() < bsp_nprocs() - 1 ? &x : &y);
  bsp_sync();
  puts("no error");
  fflush(stdout);
  bsp_end();
  return 0;
}
