/* Source: BSPlib 1997, Starting and finishing, statement 5
 * Claim: What the processes print on standard output and standard error reaches the user, in some
 *   order.
 * Stdout: out {pid} of {p}
 * Stderr: ^err {pid} of {p}$
 * Order: any
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  printf("out %d of %d\n", bsp_pid(), bsp_nprocs());
  fprintf(stderr, "err %d of %d\n", bsp_pid(), bsp_nprocs());
  bsp_end();
  return 0;
}
