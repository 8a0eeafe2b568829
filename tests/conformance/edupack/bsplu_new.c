/* Source: BSPedupack, programs, statement 2
 * Claim: An LU decomposition in the new form of BSPedupack: a grid of processes, rows and pivots by
 *   bsp_put, parts of rows and columns by a broadcast in two phases, of which each is a superstep.
 * Stdin: {p}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/new_form.h"

#include <math.h>

#define ORDER 24

static long M, N; /* The grid; process (s, t) has number s + t * M. */

/* Phase 0: process src of the p0 processes s0, s0 + stride, ... deals x out in blocks. Phase 1:
 * each of them, s among them, gives its block to all. A superstep ends after each. */
void bsp_broadcast(double *x, long n, long src, long s0, long stride, long p0, long s, long phase) {
  long b = (n + p0 - 1) / p0;
  for (long j = 0; j < p0; j++) {
    long block = phase == 0 ? j : s, nb = n - block * b < b ? n - block * b : b;
    if (nb <= 0 || (phase == 0 && s != src)) continue;
    bsp_put(s0 + j * stride, &x[block * b], x, block * b * sizeof(double), nb * sizeof(double));
  }
}

/* Any matrix without small pivots after exchanges. */
double entry(long i, long j) { return ((i * 41 + j * 59 + i * j) % 89) / 89.0 + 0.5 * (i == j); }

/* What all steps of one decomposition share. */
static struct {
  double *lk, *uk, *Max, pivot;
  long *Imax, r, nlr, nlc, s, t;
} lu;

void lu_begin(long s, long t, long n) {
  lu.s = s, lu.t = t;
  lu.nlr = nloc(M, s, n), lu.nlc = nloc(N, t, n);
  lu.lk = vecallocd(lu.nlr), lu.uk = vecallocd(lu.nlc);
  lu.Max = vecallocd(M), lu.Imax = vecalloci(M);
  bsp_push_reg(lu.lk, lu.nlr * sizeof(double));
  bsp_push_reg(lu.uk, lu.nlc * sizeof(double));
  bsp_push_reg(lu.Max, M * sizeof(double));
  bsp_push_reg(lu.Imax, M * sizeof(long));
  bsp_push_reg(&lu.pivot, sizeof(double));
  bsp_push_reg(&lu.r, sizeof(long));
}

void lu_end(void) {
  bsp_pop_reg(&lu.r);
  bsp_pop_reg(&lu.pivot);
  bsp_pop_reg(lu.Imax);
  bsp_pop_reg(lu.Max);
  bsp_pop_reg(lu.uk);
  bsp_pop_reg(lu.lk);
  vecfreei(lu.Imax);
  vecfreed(lu.Max);
  vecfreed(lu.uk);
  vecfreed(lu.lk);
}

/* The row with the largest number of column k, in lu.r on all processes. */
void find_pivot(long k, double **a) {
  long s = lu.s, t = lu.t, kc = nloc(N, t, k);
  if (k % N == t) {
    double absmax = -1.0;
    long imax = -1;
    for (long i = nloc(M, s, k); i < lu.nlr; i++) {
      if (fabs(a[i][kc]) > absmax) absmax = fabs(a[i][kc]), imax = i * M + s;
    }
    for (long s1 = 0; s1 < M; s1++) {
      bsp_put(s1 + t * M, &absmax, lu.Max, s * sizeof(double), sizeof(double));
      bsp_put(s1 + t * M, &imax, lu.Imax, s * sizeof(long), sizeof(long));
    }
  }
  bsp_sync();
  if (k % N == t) {
    long smax = 0;
    for (long s1 = 1; s1 < M; s1++) {
      if (lu.Max[s1] > lu.Max[smax]) smax = s1;
    }
    for (long t1 = 0; t1 < N; t1++) bsp_put(s + t1 * M, &lu.Imax[smax], &lu.r, 0, sizeof(long));
  }
  bsp_sync();
}

/* Rows k and r change places: puts that are performed together. Processes (s, 0) have pi. */
void exchange_rows(long k, double **a, long *pi) {
  long s = lu.s, t = lu.t, r = lu.r, from[2] = {k, r};
  for (int i = 0; r != k && i < 2; i++) {
    long row = from[i], other = from[1 - i], to = other % M + t * M;
    if (row % M != s) continue;
    if (lu.nlc > 0)
      bsp_put(to, a[row / M], a[0], other / M * lu.nlc * sizeof(double), lu.nlc * sizeof(double));
    if (t == 0) bsp_put(to, &pi[row / M], pi, other / M * sizeof(long), sizeof(long));
  }
  bsp_sync();
}

void bsplu(long n, double **a, long *pi) {
  long s = lu.s, t = lu.t;
  for (long k = 0; k < n; k++) {
    long kr = nloc(M, s, k), kc = nloc(N, t, k), kr1 = nloc(M, s, k + 1), kc1 = nloc(N, t, k + 1);
    find_pivot(k, a);
    exchange_rows(k, a, pi);
    for (long s1 = 0; k % M == s && k % N == t && s1 < M; s1++)
      bsp_put(s1 + t * M, &a[kr][kc], &lu.pivot, 0, sizeof(double));
    bsp_sync();
    for (long i = kr1; k % N == t && i < lu.nlr; i++) lu.lk[i - kr1] = a[i][kc] /= lu.pivot;
    for (long j = kc1; k % M == s && j < lu.nlc; j++) lu.uk[j - kc1] = a[kr][j];
    for (long phase = 0; phase < 2; phase++) {
      bsp_broadcast(lu.lk, lu.nlr - kr1, k % N, s, M, N, t, phase);
      bsp_broadcast(lu.uk, lu.nlc - kc1, k % M, t * M, 1, M, s, phase);
      bsp_sync();
    }
    for (long i = kr1; i < lu.nlr; i++) {
      for (long j = kc1; j < lu.nlc; j++) a[i][j] -= lu.lk[i - kr1] * lu.uk[j - kc1];
    }
  }
}

/* The product of L and U on process 0, compared with the matrix with its rows exchanged. */
void check(long n, double **a, const long *pi, double **all, long *rows) {
  for (long i = 0; i < lu.nlr; i++) {
    for (long j = 0; j < lu.nlc; j++) {
      long place = (i * M + lu.s) * n + j * N + lu.t;
      bsp_put(0, &a[i][j], all[0], place * sizeof(double), sizeof(double));
    }
    if (lu.t == 0) bsp_put(0, &pi[i], rows, (i * M + lu.s) * sizeof(long), sizeof(long));
  }
  bsp_sync();
  for (long i = 0; bsp_pid() == 0 && i < n; i++) {
    for (long j = 0; j < n; j++) {
      double sum = i <= j ? all[i][j] : 0.0;
      for (long k = 0; k < i && k <= j; k++) sum += all[i][k] * all[k][j];
      if (fabs(sum - entry(rows[i], j)) > 1e-9) bsp_abort("L U differs at %ld, %ld\n", i, j);
    }
  }
}

void bsplu_test(void) {
  bsp_begin(P);
  long p = bsp_nprocs(), n = ORDER;
  for (M = 1; (M + 1) * (M + 1) <= p || p % M != 0; M++) continue;
  N = p / M;
  lu_begin(bsp_pid() % M, bsp_pid() / M, n);
  double **a = matallocd(lu.nlr, lu.nlc), **all = matallocd(n, n);
  long *pi = vecalloci(lu.nlr), *rows = vecalloci(n);
  bsp_push_reg(a[0], lu.nlr * lu.nlc * sizeof(double));
  bsp_push_reg(pi, lu.nlr * sizeof(long));
  bsp_push_reg(all[0], n * n * sizeof(double));
  bsp_push_reg(rows, n * sizeof(long));
  for (long i = 0; i < lu.nlr; i++) {
    pi[i] = i * M + lu.s;
    for (long j = 0; j < lu.nlc; j++) a[i][j] = entry(i * M + lu.s, j * N + lu.t);
  }
  bsp_sync();
  bsplu(n, a, pi);
  check(n, a, pi, all, rows);
  if (bsp_pid() == 0) printf("ok\n");
  bsp_pop_reg(rows);
  bsp_pop_reg(all[0]);
  bsp_pop_reg(pi);
  bsp_pop_reg(a[0]);
  vecfreei(rows);
  vecfreei(pi);
  matfreed(all);
  matfreed(a);
  lu_end();
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bsplu_test, argc, argv);
  read_number_of_processes();
  bsplu_test();
  exit(EXIT_SUCCESS);
}
