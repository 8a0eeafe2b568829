/* Source: BSP_CHECK=full, statement 1
 * Claim: An unbuffered put that overlaps another process's put is found, whatever its size.
 * Cases: 8 100000
 * Procs: 2 4 7
 * Env: BSP_CHECK=full
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid 0, superstep 1: puts overlap in {case} bytes .*pid 0 .*pid 1 .*
 */
#include <stdlib.h>

#include "bsp.h"

int main(int argc, char **argv) {
  int bytes = argc > 1 ? atoi(argv[1]) : 8;
  char *area = calloc(bytes, 1), *x = calloc(bytes, 1);
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, bytes);
  bsp_sync();
  if (bsp_pid() == 0) bsp_put(0, x, area, 0, bytes);
  if (bsp_pid() == 1) bsp_hpput(0, x, area, 0, bytes);
  bsp_sync();
  bsp_sync(); /* Only one process finds the error, and ends the others. */
  puts("no error");
  bsp_end();
  return 0;
}
