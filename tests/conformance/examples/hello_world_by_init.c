/* Source: BSPlib 1997, Simulating dynamic processes, statement 7
 * Claim: The paper's program with bsp_init: one process reads how many are to be started.
 * Mended: "void main" is int main with its return; the misprinted letters of spmd_part.
 * Stdin: 3
 * Stdout if pid < min(p, 3): Hello BSP Worldwide from process {pid} of {min(p, 3)}
 * Order: any
 */
#include "bsp.h"

/* Not printed in the paper. */
static int ReadInteger(void) {
  int value = 0;
  if (scanf("%d", &value) != 1) bsp_abort("no number on standard input\n");
  return value;
}

/* clang-format off */
int nprocs; /* global variable */

void spmd_part(void) {
  bsp_begin(nprocs);
  printf("Hello BSP Worldwide from process %d of %d\n",
        bsp_pid(),bsp_nprocs());
  bsp_end();
}

int main(int argc, char *argv[]) {
  bsp_init(spmd_part, argc, argv);
  nprocs=ReadInteger();
  spmd_part();
  return 0;
}
