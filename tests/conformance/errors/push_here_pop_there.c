/* Source: semantics, mismatches, statement 1
 * Claim: A push on one process does not match a pop on another.
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid [0-9]+, superstep 1: registrations differ:
 *   pid 0 pushed 1 and popped 0, pid {p - 1} pushed 0 and popped 1.*
 */
#include "bsp.h"

int main(void) {
  int x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (bsp_pid() < bsp_nprocs() - 1)
    bsp_push_reg(&x, sizeof(x));
  else
    bsp_pop_reg(&x);
  bsp_sync();
  puts("no error");
  fflush(stdout);
  bsp_end();
  return 0;
}
