/* Source: BSPlib 1997, Simulating dynamic processes, statement 2
 * Source: BSPlib 1997, Simulating dynamic processes, statement 3
 * Source: bsp.h, bsp_begin, statement 2
 * Claim: The single process decides how many processes bsp_begin spawns, as far as there are
 *   enough; what the others hold in that variable does not matter.
 * Stdout if pid < (p + 1) // 2: {pid} of {(p + 1) // 2}, wanted {(p + 1) // 2 if pid == 0 else 0}
 * Order: any
 */
#include "bsp.h"

static int wanted;

static void spmd(void) {
  bsp_begin(wanted);
  printf("%d of %d, wanted %d\n", bsp_pid(), bsp_nprocs(), wanted);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(spmd, argc, argv);
  wanted = (bsp_nprocs() + 1) / 2;
  spmd();
  return 0;
}
