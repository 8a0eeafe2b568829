/* Source: BSPlib 1997, Halt, statement 1
 * Claim: What any process has printed and flushed before a bsp_abort is not lost.
 * Exit: 6
 * Stdout: printed by {pid}
 * Order: any
 * Stderr: ^halt$
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  printf("printed by %d\n", bsp_pid());
  fflush(stdout);
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() / 2) bsp_abort("halt\n");
  bsp_sync();
  bsp_end();
  return 0;
}
