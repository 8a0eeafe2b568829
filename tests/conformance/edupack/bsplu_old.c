/* Source: BSPedupack, programs, statement 1
 * Claim: An LU decomposition in the old form of BSPedupack: a grid of M x N processes, matrices of
 *   row pointers over one block, every column with the pivots of its processes by bsp_put.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "bsp.h"

#define SZINT ((int)sizeof(int))
#define SZDBL ((int)sizeof(double))
#define ORDER 24

int M, N;

int nloc(int p, int s, int n) { return (n + p - s - 1) / p; }

double **matallocd(int m, int n) {
  double **rows = (double **)malloc((m + 1) * sizeof(double *));
  double *block = (double *)malloc((m * n + 1) * sizeof(double));
  int i;
  if (rows == NULL || block == NULL) bsp_abort("matallocd: not enough memory");
  for (i = 0; i <= m; i++) rows[i] = block + i * n;
  return rows;
}

void matfreed(double **rows) {
  free(rows[0]);
  free(rows);
}

/* Any matrix without small pivots after exchanges. */
double entry(int i, int j) {
  return ((i * 37 + j * 61 + i * j) % 97) / 97.0 + (i == j ? 0.5 : 0.0);
}

/* Superstep 0: the largest of a column on each of its processes, to all processes. */
void offer_pivot(int kr, int kc, int nlr, int s, double **a, double *absmax, int *imax) {
  int i, t, row = -1;
  double mine = -1.0;
  for (i = kr; i < nlr; i++) {
    if (fabs(a[i][kc]) > mine) {
      row = i * M + s;
      mine = fabs(a[i][kc]);
    }
  }
  for (i = 0; i < M; i++) {
    for (t = 0; t < N; t++) {
      bsp_put(i + t * M, &mine, absmax, s * SZDBL, SZDBL);
      bsp_put(i + t * M, &row, imax, s * SZINT, SZINT);
    }
  }
}

/* The process of row i and column j of the grid has number i + j * M. */
void bsplu(int n, int s, int t, int *pi, double **a) {
  int nlr = nloc(M, s, n), nlc = nloc(N, t, n), i, j, k, r, owner;
  double *uk = (double *)malloc((nlc + 1) * sizeof(double));
  double *lk = (double *)malloc((nlr + 1) * sizeof(double));
  double *absmax = (double *)malloc(M * sizeof(double));
  int *imax = (int *)malloc(M * sizeof(int));
  double *pa = a[0], pivot = 0.0;
  bsp_push_reg(&pivot, SZDBL);
  bsp_push_reg(uk, nlc * SZDBL);
  bsp_push_reg(lk, nlr * SZDBL);
  bsp_push_reg(absmax, M * SZDBL);
  bsp_push_reg(imax, M * SZINT);
  bsp_push_reg(pa, nlr * nlc * SZDBL);
  bsp_sync();
  for (k = 0; k < n; k++) {
    int kr = nloc(M, s, k), kc = nloc(N, t, k), smax;
    if (k % N == t) offer_pivot(kr, kc, nlr, s, a, absmax, imax);
    bsp_sync();
    smax = 0;
    for (i = 1; i < M; i++) {
      if (absmax[i] > absmax[smax]) smax = i;
    }
    r = imax[smax];
    i = pi[k];
    pi[k] = pi[r];
    pi[r] = i;
    /* Superstep 1: rows k and r change places, by puts that are performed together. */
    if (r != k) {
      if (k % M == s) bsp_put(r % M + t * M, a[kr], pa, (r / M) * nlc * SZDBL, nlc * SZDBL);
      if (r % M == s) bsp_put(k % M + t * M, a[r / M], pa, (k / M) * nlc * SZDBL, nlc * SZDBL);
    }
    bsp_sync();
    /* Superstep 2: the pivot to its column. */
    owner = k % M + (k % N) * M;
    if (k % N == t)
      bsp_get(owner, pa, ((k / M) * nloc(N, k % N, n) + k / N) * SZDBL, &pivot, SZDBL);
    bsp_sync();
    if (k % N == t) {
      for (i = nloc(M, s, k + 1); i < nlr; i++) a[i][kc] /= pivot;
      for (i = nloc(M, s, k + 1); i < nlr; i++) {
        for (j = 0; j < N; j++) bsp_put(s + j * M, &a[i][kc], lk, i * SZDBL, SZDBL);
      }
    }
    if (k % M == s) {
      for (j = nloc(N, t, k + 1); j < nlc; j++) {
        for (i = 0; i < M; i++) bsp_put(i + t * M, &a[kr][j], uk, j * SZDBL, SZDBL);
      }
    }
    bsp_sync();
    for (i = nloc(M, s, k + 1); i < nlr; i++) {
      for (j = nloc(N, t, k + 1); j < nlc; j++) a[i][j] -= lk[i] * uk[j];
    }
  }
  bsp_pop_reg(pa);
  bsp_pop_reg(imax);
  bsp_pop_reg(absmax);
  bsp_pop_reg(lk);
  bsp_pop_reg(uk);
  bsp_pop_reg(&pivot);
  free(uk);
  free(lk);
  free(absmax);
  free(imax);
}

/* The product of L and U on process 0, compared with the matrix with its rows exchanged. */
void check(int n, int s, int t, int *pi, double **a, double **all) {
  int nlr = nloc(M, s, n), nlc = nloc(N, t, n), i, j, k;
  bsp_push_reg(all[0], n * n * SZDBL);
  bsp_sync();
  for (i = 0; i < nlr; i++) {
    for (j = 0; j < nlc; j++) {
      bsp_put(0, &a[i][j], all[0], ((i * M + s) * n + j * N + t) * SZDBL, SZDBL);
    }
  }
  bsp_sync();
  for (i = 0; bsp_pid() == 0 && i < n; i++) {
    for (j = 0; j < n; j++) {
      double sum = i <= j ? all[i][j] : 0.0;
      for (k = 0; k < i && k <= j; k++) sum += all[i][k] * all[k][j];
      if (fabs(sum - entry(pi[i], j)) > 1e-9) bsp_abort("L U differs at %d, %d", i, j);
    }
  }
  bsp_pop_reg(all[0]);
}

void bsplu_test(void) {
  int p, s, t, i, j, *pi;
  double **a, **all;
  bsp_begin(M * N);
  p = bsp_nprocs();
  for (M = 1; (M + 1) * (M + 1) <= p || p % M != 0; M++) continue;
  N = p / M;
  s = bsp_pid() % M;
  t = bsp_pid() / M;
  a = matallocd(nloc(M, s, ORDER), nloc(N, t, ORDER));
  all = matallocd(ORDER, ORDER);
  pi = (int *)malloc(ORDER * sizeof(int));
  for (i = 0; i < ORDER; i++) pi[i] = i;
  for (i = 0; i < nloc(M, s, ORDER); i++) {
    for (j = 0; j < nloc(N, t, ORDER); j++) a[i][j] = entry(i * M + s, j * N + t);
  }
  bsplu(ORDER, s, t, pi, a);
  check(ORDER, s, t, pi, a, all);
  if (bsp_pid() == 0) printf("ok\n");
  matfreed(a);
  matfreed(all);
  free(pi);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bsplu_test, argc, argv);
  M = bsp_nprocs();
  N = 1;
  bsplu_test();
  exit(0);
}
