/* Source: bspnow, errors, statement 4
 * Claim: bsp_fail ends the job as an error of the library does, in the name of a call; of several
 *   processes one is heard. Before bsp_begin, too.
 * Cases: within before
 * Exit: 6
 * Stderr if case == 'within': ^bspnow: my_call on pid \d+, superstep 1: 3 of 4 parts; mend
 *   it, at .+
 * Stderr if case == 'before': ^bspnow: my_call before bsp_begin: 3 of 4 parts; mend it, at .+
 */
#include <string.h>

#include "bsp.h"

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "before") == 0) {
    bsp_fail("my_call", "%d of %s parts; mend it", 3, "4");
  }
  bsp_begin(bsp_nprocs());
  bsp_sync();
  bsp_fail("my_call", "%d of %s parts; mend it", 3, "4");
}
