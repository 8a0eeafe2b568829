/* Source: semantics, collectives, statement 4
 * Claim: BSP_TRACE=collectives prints what is chosen and why, once for each call and choice.
 * Procs: 4
 * Cases: direct tree
 * Env: BSP_TRACE=collectives
 * Env if case == 'direct': BSP_MACHINE=l=1e9
 * Env if case == 'tree': BSP_MACHINE=l=0,g=1,n12=0,s=1e9
 * Stderr: ^bspnow: bsp_fold of 8 bytes, p = 4, (one node|several nodes): {case}
 *   \(direct [0-9.]+ us, tree of 2 [0-9.]+ us; g = \S+ ns a byte, l = \S+ us, n1/2 = \d+ bytes\)$
 */
#include "bsp_level1.h"

#include "level1/model.h"

static void Last(void *result, void *left, void *right, int *nbytes) {
  (void)left;
  (void)nbytes;
  *(double *)result = *(double *)right;
}

int main(void) {
  double x, y;
  int i;
  bsp_begin(bsp_nprocs());
  x = bsp_pid();
  for (i = 0; i < 3; i++) {
    bsp_fold(Last, &x, &y, sizeof x);
    EXPECT_EQ(y, bsp_nprocs() - 1);
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
