/* Source: semantics, dialects, statement 5
 * Claim: All processes that run main begin a section, or none: who leaves the program while pid 0
 *   begins one, and who begins one when pid 0 has left, is named.
 * Cases: leaves begins
 * Procs: 2
 * Exit: 6
 * Stderr if case == 'leaves': ^bspnow: exit on pid 1, superstep [0-9]+: pid 1 leaves the program,
 *   while pid 0 begins one more SPMD section; .+
 * Stderr if case == 'begins': ^bspnow: bsp_begin on pid 1, superstep [0-9]+: pid 0 has left the
 *   program, while pid 1 begins one more SPMD section; .+
 */
#include <string.h>

#include "mcbsp.h"

int main(int argc, char **argv) {
  unsigned who = argc > 1 && strcmp(argv[1], "leaves") == 0 ? 0 : 1, me;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  bsp_end();
  if (me != who) return 0;
  bsp_begin(bsp_nprocs());
  bsp_end();
  return 0;
}
