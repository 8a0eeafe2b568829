/* Source: BSPlib 1997, Starting and finishing, note 5
 * Claim: bsp_begin and bsp_end may be the first and last statement of any procedure; without
 *   bsp_init every process runs main up to it and on behind it.
 * Stdout: before
 * Stdout if pid < p: after
 * Order: any
 */
#include "bsp.h"

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) puts("before");
  bsp_sync();
  bsp_end();
}

int main(void) {
  spmd();
  puts("after");
  return 0;
}
