/* Source: BSPlib 1997, Registration, statement 8
 * Source: semantics, mismatches, statement 1
 * Claim: All processes must call bsp_pop_reg: different numbers of pops are an error at the
 *   barrier, which names both processes and their numbers.
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid [0-9]+, superstep 1: registrations differ:
 *   pid 0 pushed 0 and popped 0, pid {p - 1} pushed 0 and popped 1.*
 */
#include "bsp.h"

int main(void) {
  int x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) bsp_pop_reg(&x);
  bsp_sync();
  puts("no error");
  fflush(stdout);
  bsp_end();
  return 0;
}
