/* Source: BSPlib 1997, Halt, statement 1
 * Source: BSPlib 1997, Halt, statement 4
 * Source: semantics, abort, statement 1
 * Claim: bsp_abort on one process prints its message and halts the whole program, with status 6,
 *   while the others wait in a barrier.
 * Exit: 6
 * Stderr: ^stopped by {p - 1}$
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) bsp_abort("stopped by %d\n", bsp_pid());
  bsp_sync();
  puts("not to be reached");
  bsp_end();
  return 0;
}
