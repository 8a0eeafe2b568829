/* Source: BSPlib 1997, Simulating dynamic processes, statement 1
 * Claim: The single process that bsp_init leaves running may fail before bsp_begin: the waiting
 *   processes end with it, and the job has its exit status.
 * Exit: 3
 * Stdout: cannot go on
 */
#include "bsp.h"

static void Spmd(void) {
  bsp_begin(bsp_nprocs());
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(Spmd, argc, argv);
  puts("cannot go on");
  return 3;
}
