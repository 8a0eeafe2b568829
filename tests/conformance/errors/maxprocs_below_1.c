/* Source: bsp.h, bsp_begin, statement 3
 * Claim: bsp_begin with maxprocs below 1 is an error.
 * Cases: 0 -4
 * Exit: 6
 * Stderr: ^bspnow: bsp_begin.*: .*maxprocs is {case}.*
 */
#include <stdlib.h>

#include "bsp.h"

static int maxprocs;

static void Spmd(void) {
  bsp_begin(maxprocs);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(Spmd, argc, argv);
  maxprocs = argc > 1 ? atoi(argv[1]) : 1;
  Spmd();
  puts("no error");
  return 0;
}
