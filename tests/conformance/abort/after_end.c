/* Source: BSPlib 1997, Halt, statement 1
 * Source: bsp.h, bsp_abort, statement 1
 * Claim: bsp_abort may be called after bsp_end, by process zero when it is alone.
 * Exit: 6
 * Stdout: in
 * Stderr: ^too late$
 */
#include "bsp.h"

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) puts("in");
  fflush(stdout);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(spmd, argc, argv);
  spmd();
  bsp_abort("too late\n");
}
