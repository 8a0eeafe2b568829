/* Source: BSPedupack, programs, statement 2
 * Claim: An inner product in the new form of BSPedupack: long indices, the sums by bsp_put.
 */
#define BSP_MULTICORE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "bsp.h"

long P;

long nloc(long p, long s, long n) { return (n + p - s - 1) / p; }

double bspip(long n, double *x, double *y) {
  long p = bsp_nprocs(), s = bsp_pid();
  double inprod = 0.0, alpha = 0.0, *Inprod = malloc(p * sizeof(double));
  if (Inprod == NULL) bsp_abort("bspip: not enough memory");
  bsp_push_reg(Inprod, p * sizeof(double));
  bsp_sync();
  for (long i = 0; i < nloc(p, s, n); i++) inprod += x[i] * y[i];
  for (long t = 0; t < p; t++) bsp_put(t, &inprod, Inprod, s * sizeof(double), sizeof(double));
  bsp_sync();
  for (long t = 0; t < p; t++) alpha += Inprod[t];
  bsp_pop_reg(Inprod);
  free(Inprod);
  return alpha;
}

void bspinprod(void) {
  bsp_begin(P);
  long p = bsp_nprocs(), s = bsp_pid(), n = 0;
  if (s == 0) n = 1000;
  bsp_push_reg(&n, sizeof(long));
  bsp_sync();
  bsp_get(0, &n, 0, &n, sizeof(long));
  bsp_sync();
  bsp_pop_reg(&n);
  long nl = nloc(p, s, n);
  double *x = malloc((nl + 1) * sizeof(double));
  for (long i = 0; i < nl; i++) x[i] = i * p + s + 1;
  bsp_sync();
  double time0 = bsp_time(), alpha = bspip(n, x, x);
  bsp_sync();
  bool in_order = bsp_time() >= time0;
  if (alpha != n * (n + 1.0) * (2.0 * n + 1.0) / 6.0) bsp_abort("the sum is %.1lf\n", alpha);
  if (s == 0 && in_order) printf("ok\n");
  free(x);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspinprod, argc, argv);
  P = bsp_nprocs();
  bspinprod();
  exit(EXIT_SUCCESS);
}
