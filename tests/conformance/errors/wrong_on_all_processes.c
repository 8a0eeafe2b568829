/* Source: semantics, abort, statement 3
 * Claim: An error that all processes make at once is printed once a process at most.
 * Exit: 6
 * Stderr: ^bspnow: bsp_put on pid [0-9]+, superstep 1: .*dst 0x[0-9a-f]+ is not registered.*; .+
 */
#include "bsp.h"

int main(void) {
  int x = 0;
  bsp_begin(bsp_nprocs());
  bsp_sync();
  bsp_put(0, &x, &x, 0, sizeof(x));
  puts("no error");
  bsp_sync();
  bsp_end();
  return 0;
}
