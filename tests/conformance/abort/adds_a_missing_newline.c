/* Source: BSPlib 1997, Halt, statement 2
 * Source: bspnow, errors, statement 3
 * Claim: A message without newline at its end is a line of its own all the same.
 * Exit: 6
 * Stderr: ^before$
 * Stderr: ^no newline$
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) {
    fputs("before\n", stderr);
    bsp_abort("no newline");
  }
  bsp_end();
  return 0;
}
