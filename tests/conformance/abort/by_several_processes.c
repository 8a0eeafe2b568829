/* Source: BSPlib 1997, Halt, note 1
 * Source: semantics, abort, statement 2
 * Claim: If several processes call bsp_abort in one superstep one or more of the messages are
 *   printed, none of them twice.
 * Exit: 6
 * Stderr: ^pid [0-9]+ halts$
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_sync();
  bsp_abort("pid %d halts\n", bsp_pid());
}
