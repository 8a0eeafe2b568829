/* Source: BSPlib 1997, Simulating dynamic processes, statement 1
 * Source: BSPlib 1997, Simulating dynamic processes, statement 5
 * Source: BSPlib 1997, Starting and finishing, note 6
 * Source: bsp.h, bsp_init, statement 1
 * Claim: After bsp_init a single process executes main; the others are in the procedure at once.
 * Stdout: alone
 * Stdout: in {pid} of {p}
 * Order: any
 */
#include "bsp.h"

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  printf("in %d of %d\n", bsp_pid(), bsp_nprocs());
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(spmd, argc, argv);
  puts("alone");
  spmd();
  return 0;
}
