/* Source: semantics, dialects, statement 1
 * Source: BSPlib 1997, Registration, statement 14
 * Claim: The bounds are checked for sizes of size_t too, sums that overflow included; the error
 *   speaks of the call by the name in the program.
 * Cases: put get direct overflow
 * Exit: 6
 * Stderr if case == 'put': ^bspnow: bsp_put on pid 0, superstep 1:
 *   .*offset 4294967296 \+ 8 bytes is beyond the 4294967300 bytes registered.*; .+
 * Stderr if case == 'get': ^bspnow: bsp_get on pid 0, superstep 1:
 *   .*offset 4294967296 \+ 8 bytes is beyond the 4294967300 bytes registered.*; .+
 * Stderr if case == 'direct': ^bspnow: bsp_direct_get on pid 0, superstep 1:
 *   .*offset 4294967296 \+ 8 bytes is beyond the 4294967300 bytes registered.*; .+
 * Stderr if case == 'overflow': ^bspnow: bsp_put on pid 0, superstep 1:
 *   .*offset 18446744073709551612 \+ 8 bytes is beyond the 4294967300 bytes registered.*; .+
 */
#define BSP_MULTICORE
#include <string.h>

#include "bsp.h"

#define CASE(name) (strcmp(which, #name) == 0)

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  const size_t large = (size_t)1 << 32;
  long area = 0, x = 0; /* Registered larger than it is: nothing is copied here. */
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&area, large + 4);
  bsp_sync();
  if (bsp_pid() == 0) {
    unsigned last = bsp_nprocs() - 1;
    if (CASE(put)) bsp_put(last, &x, &area, large, 8);
    if (CASE(get)) bsp_get(last, &area, large, &x, 8);
    if (CASE(direct)) bsp_direct_get(last, &area, large, &x, 8);
    if (CASE(overflow)) bsp_put(last, &x, &area, (size_t)-4, 8);
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
