/* Source: BSPlib 1997, Starting and finishing, note 8
 * Source: semantics, sync and end, statement 2
 * Claim: bsp_end must be executed: a program whose processes all return from main without it has
 *   not completed successfully.
 * Exit: nonzero
 * Stderr: ^bsprun: pid [0-9]+ \(OS pid [0-9]+ on .+\) left without bsp_end in
 *   superstep 1 \(exit status 0\).*
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_sync();
  return 0;
}
