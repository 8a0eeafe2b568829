/* Source: BSPlib 1997, Halt, statement 1
 * Source: bsp.h, bsp_abort, statement 1
 * Claim: bsp_abort may be called before bsp_begin: by all processes, or by the single one that
 *   bsp_init leaves running.
 * Cases: spmd init
 * Exit: 6
 * Stderr: ^process [0-9]+ is too early$
 */
#include <string.h>
#include <unistd.h>

#include "bsp.h"

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  bsp_end();
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "init") == 0) bsp_init(spmd, argc, argv);
  bsp_abort("process %ld is too early\n", (long)getpid());
}
