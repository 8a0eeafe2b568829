/* Source: BSPlib 1997, Simulating dynamic processes, statement 5
 * Claim: If the procedure given to bsp_init has no bsp_begin, the processes that ran it have left
 *   when pid 0 begins elsewhere: an error, and nothing hangs.
 * Procs: 2 4 7 64
 * Exit: nonzero
 * Stderr: ^bsprun: pid [1-9][0-9]* left before bsp_begin, while others are in it; .+
 */
#include "bsp.h"

static void Other(void) {}

static void Spmd(void) {
  bsp_begin(bsp_nprocs());
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(Other, argc, argv);
  Spmd();
  puts("not to be reached");
  return 0;
}
