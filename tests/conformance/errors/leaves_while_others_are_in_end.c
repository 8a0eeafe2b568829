/* Source: BSPlib 1997, Starting and finishing, note 8
 * Source: semantics, sync and end, statement 2
 * Claim: A process that leaves is noticed by those that wait for it in bsp_end too.
 * Procs: 2 4 7 64
 * Exit: nonzero
 * Stderr: ^bsprun: pid {p // 2} \(OS pid [0-9]+ on .+\) left
 *   without bsp_end in superstep 0 \(exit status 0\).*
 */
#include <stdlib.h>
#include <unistd.h>

#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == bsp_nprocs() / 2) {
    usleep(20 * 1000); /* The others are in bsp_end by then. */
    exit(0);
  }
  bsp_end();
  puts("not to be reached");
  return 0;
}
