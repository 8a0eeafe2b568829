/* Source: BSPlib 1997, Enquiry, statement 2
 * Source: BSPlib 1997, Starting and finishing, note 7
 * Source: semantics, nprocs argv stdin, statement 1
 * Claim: Before bsp_begin, bsp_nprocs gives the number of processors available, and
 *   bsp_begin(bsp_nprocs()) asks for as many processes.
 * Stdout: {p} {p}
 */
#include "bsp.h"

int main(void) {
  int available = bsp_nprocs();
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) printf("%d %d\n", available, bsp_nprocs());
  bsp_end();
  return 0;
}
