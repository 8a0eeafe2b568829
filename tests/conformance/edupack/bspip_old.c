/* Source: BSPedupack, programs, statement 1
 * Claim: An inner product in the old form of BSPedupack: cyclic distribution, the sums by bsp_put.
 * Stdin: 100
 * Stdout: ok
 */
#include <stdio.h>
#include <stdlib.h>
#include "bsp.h"

#define SZINT (sizeof(int))
#define SZDBL (sizeof(double))

int P; /* The number of processes wanted. */

int nloc(int p, int s, int n) { return (n + p - s - 1) / p; }

double bspip(int p, int s, int n, double *x, double *y) {
  double inprod = 0.0, alpha = 0.0, *Inprod = (double *)malloc((size_t)p * SZDBL);
  int i, t;
  if (Inprod == NULL) bsp_abort("bspip: not enough memory");
  bsp_push_reg(Inprod, p * SZDBL);
  bsp_sync();
  for (i = 0; i < nloc(p, s, n); i++) inprod += x[i] * y[i];
  for (t = 0; t < p; t++) bsp_put(t, &inprod, Inprod, s * SZDBL, SZDBL);
  bsp_sync();
  for (t = 0; t < p; t++) alpha += Inprod[t];
  bsp_pop_reg(Inprod);
  free(Inprod);
  return alpha;
}

void bspinprod(void) {
  int p, s, n, nl, i, iglob;
  double *x, alpha, time0, time1;
  bsp_begin(P);
  p = bsp_nprocs();
  s = bsp_pid();
  if (s == 0 && scanf("%d", &n) != 1) bsp_abort("bspinprod: no n\n");
  if (s == 0 && n < 0) bsp_abort("Error in input: n is negative");
  bsp_push_reg(&n, SZINT);
  bsp_sync();
  bsp_get(0, &n, 0, &n, SZINT);
  bsp_sync();
  bsp_pop_reg(&n);
  nl = nloc(p, s, n);
  x = (double *)malloc((size_t)(nl + 1) * SZDBL);
  for (i = 0; i < nl; i++) {
    iglob = i * p + s;
    x[i] = iglob + 1;
  }
  bsp_sync();
  time0 = bsp_time();
  alpha = bspip(p, s, n, x, x);
  bsp_sync();
  time1 = bsp_time();
  if (alpha != n * (n + 1.0) * (2.0 * n + 1.0) / 6.0) bsp_abort("the sum is %.1lf", alpha);
  if (s == 0 && time1 >= time0) printf("ok\n");
  free(x);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspinprod, argc, argv);
  P = bsp_nprocs();
  bspinprod();
  exit(0);
}
