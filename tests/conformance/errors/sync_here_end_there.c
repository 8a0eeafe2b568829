/* Source: BSPlib 1997, Superstep, statement 3
 * Source: BSPlib 1997, Starting and finishing, note 8
 * Source: semantics, sync and end, statement 1
 * Source: bsp.h, bsp_end, statement 3
 * Claim: All processes take part in every barrier: bsp_sync on some while others are in bsp_end is
 *   an error that names them, and nothing hangs.
 * Cases: first_ends last_ends
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr if case == 'first_ends': ^bspnow: bsp_(sync on pid [1-9][0-9]*, superstep 3: .*pid 0 is in
 *   bsp_end|end on pid 0, superstep 3: .*pid [1-9][0-9]* is in bsp_sync).*
 * Stderr if case == 'last_ends': ^bspnow: bsp_(sync on pid [0-9]+, superstep 3: .*pid {p - 1} is in
 *   bsp_end|end on pid {p - 1}, superstep 3: .*pid [0-9]+ is in bsp_sync).*
 */
#include <string.h>

#include "bsp.h"

int main(int argc, char **argv) {
  int first = argc > 1 && strcmp(argv[1], "first_ends") == 0;
  bsp_begin(bsp_nprocs());
  bsp_sync();
  bsp_sync();
  bsp_sync();
  if (bsp_pid() != (first ? 0 : bsp_nprocs() - 1)) bsp_sync();
  bsp_end();
  return 0;
}
