/* Source: BSPlib 1997, Starting and finishing, note 6
 * Claim: bsp_init must come first: after bsp_begin it is an error.
 * Exit: 6
 * Stderr: ^bspnow: bsp_init .*bsp_begin.*
 */
#include "bsp.h"

static void Spmd(void) {}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) bsp_init(Spmd, argc, argv);
  bsp_sync();
  bsp_end();
  return 0;
}
