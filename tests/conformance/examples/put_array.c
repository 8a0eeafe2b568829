/* Source: BSPlib 1997, Put, statement 10
 * Claim: The paper's put_array performs xs[xs[i]] := xs[i] for all i at once, on a permutation and
 *   on indices of which several are the same; it aborts where n is not divisible by p.
 * Cases: permutation repeated indivisible
 * Exit if case == 'indivisible' and p > 1: 6
 * Stderr if case == 'indivisible' and p > 1: ^.put_array. n={4 * p + 1} not divisible by p={p}$
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

/* clang-format off */
void put_array(int *xs, int n) {
    int i, pid, local_idx, n_over_p= n/bsp_nprocs();
    if ((n % bsp_nprocs()) != 0)
        bsp_abort("{put_array} n=%d not divisible by p=%d",
                  n, bsp_nprocs());
    bsp_push_reg(xs, n_over_p * sizeof(int));
    bsp_sync();

    for(i=0; i < n_over_p; i++) {
        pid       = xs[i] / n_over_p;
        local_idx = xs[i] % n_over_p;
        bsp_put(pid, &xs[i], xs, local_idx * sizeof(int), sizeof(int));
    }
    bsp_sync();
    bsp_pop_reg(xs);
}
/* clang-format on */

static int Index(int i, int n, int repeated) { return repeated ? i * 2 % n : (i + 3) % n; }

int main(int argc, char **argv) {
  int repeated = argc > 1 && strcmp(argv[1], "repeated") == 0;
  int indivisible = argc > 1 && strcmp(argv[1], "indivisible") == 0;
  int *xs, *expected, me, n, n_over_p, i;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  n_over_p = 4 + (indivisible && bsp_nprocs() == 1);
  n = 4 * bsp_nprocs() + indivisible;
  xs = calloc(n, sizeof(int));
  expected = calloc(n, sizeof(int));
  EXPECT(xs != NULL && expected != NULL);
  for (i = 0; i < n; i++) expected[i] = Index(i, n, repeated);
  for (i = 0; i < n; i++) expected[Index(i, n, repeated)] = Index(i, n, repeated);
  for (i = 0; i < n_over_p; i++) xs[i] = Index(me * n_over_p + i, n, repeated);
  put_array(xs, n);
  for (i = 0; i < n_over_p; i++) EXPECT_EQ(xs[i], expected[me * n_over_p + i]);
  bsp_sync();
  free(xs);
  free(expected);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
