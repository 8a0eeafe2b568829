/* Source: BSPlib 1997, Halt, statement 1
 * Claim: bsp_abort halts the program with an empty line as its message too.
 * Exit: 6
 * Stderr: ^$
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) bsp_abort("\n");
  bsp_end();
  return 0;
}
