/* Source: BSPlib 1997, Get, statement 6
 * Source: bsp_get(3), statement 4
 * Claim: The paper's get_array performs xs[i] := xs[xs[i]] for all i at once; it aborts where n is
 *   not divisible by p.
 * Cases: divisible indivisible
 * Exit if case == 'indivisible' and p > 1: 6
 * Stderr if case == 'indivisible' and p > 1: ^.get_array. {4 * p + 1} not divisible by {p}$
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

/* clang-format off */
void get_array(int *xs, int n) {
    int i, pid, local_idx, n_over_p=n/bsp_nprocs();
    if (n % bsp_nprocs())
        bsp_abort("{get_array} %d not divisible by %d",
                  n, bsp_nprocs());
    bsp_push_reg(xs,n_over_p*sizeof(int));
    bsp_sync();

    for(i=0; i<n_over_p; i++) {
        pid          = xs[i]/n_over_p;
        local_idx    = xs[i]%n_over_p;
        bsp_get(pid, xs, local_idx*sizeof(int), &xs[i], sizeof(int));
    }
    bsp_sync();
    bsp_pop_reg(xs);
}
/* clang-format on */

static int Index(int i, int n) { return (i * 7 + 3) % n; }

int main(int argc, char **argv) {
  int indivisible = argc > 1 && strcmp(argv[1], "indivisible") == 0;
  int *xs, me, n, n_over_p, i;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  n_over_p = 4 + (indivisible && bsp_nprocs() == 1);
  n = 4 * bsp_nprocs() + indivisible;
  xs = calloc(n_over_p, sizeof(int));
  EXPECT(xs != NULL);
  for (i = 0; i < n_over_p; i++) xs[i] = Index(me * n_over_p + i, n);
  get_array(xs, n);
  for (i = 0; i < n_over_p; i++) EXPECT_EQ(xs[i], Index(Index(me * n_over_p + i, n), n));
  get_array(xs, n);
  for (i = 0; i < n_over_p; i++)
    EXPECT_EQ(xs[i], Index(Index(Index(Index(me * n_over_p + i, n), n), n), n));
  bsp_sync();
  free(xs);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
