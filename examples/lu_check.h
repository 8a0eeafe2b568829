/* lu_check.h: checks an LU decomposition, without a line of the program that made it. */
#ifndef EXAMPLES_LU_CHECK_H_
#define EXAMPLES_LU_CHECK_H_

#include <err.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

static inline void Swap(double *a, double *b) {
  const double old = *a;
  *a = *b;
  *b = old;
}

/* Decomposes `a`, held by columns, in its place: column by column ("left-looking"), whereas the
 * parallel program works stage by stage. Each element still goes through the same subtractions
 * in the same order, so the pivots must be the same. */
static inline void SequentialLu(double *a, int n, int *swapped) {
  for (int j = 0; j < n; j++) {
    double *column = a + (size_t)j * n;
    for (int k = 0; k < j; k++) Swap(&column[k], &column[swapped[k]]);
    for (int k = 0; k < j; k++) {
      const double *l = a + (size_t)k * n;
      for (int i = k + 1; i < n; i++) column[i] -= l[i] * column[k];
    }
    int r = j;
    for (int i = j + 1; i < n; i++)
      if (fabs(column[i]) > fabs(column[r])) r = i;
    swapped[j] = r;
    for (int k = 0; k <= j; k++) Swap(&a[(size_t)k * n + j], &a[(size_t)k * n + r]);
    for (int i = j + 1; i < n; i++) column[i] /= column[j];
  }
}

/* The largest element of P A - L U, in units of n eps times the largest element of A: a few at
 * most, unless elements grew during the elimination. `lu` holds L, without its ones, and U. */
static inline double LuResidual(const double *a, const double *lu, const int *swapped, int n) {
  int *row_of = (int *)malloc(n * sizeof *row_of); /* Row i of P A is row row_of[i] of A. */
  double *product = (double *)malloc(n * sizeof *product);
  if (row_of == NULL || product == NULL) err(kExitFailed, "verification");
  for (int i = 0; i < n; i++) row_of[i] = i;
  for (int k = 0; k < n; k++) {
    const int old = row_of[k];
    row_of[k] = row_of[swapped[k]];
    row_of[swapped[k]] = old;
  }

  double largest = 0.0, residual = 0.0;
  for (int i = 0; i < n; i++) {
    const double *l = lu + (size_t)i * n;
    for (int j = 0; j < n; j++) product[j] = 0.0;
    for (int k = 0; k <= i; k++) {
      const double *u = lu + (size_t)k * n;
      for (int j = k; j < n; j++) product[j] += (k < i ? l[k] : 1.0) * u[j];
    }
    for (int j = 0; j < n; j++) {
      const double expected = a[(size_t)row_of[i] * n + j];
      largest = fmax(largest, fabs(expected));
      residual = fmax(residual, fabs(expected - product[j]));
    }
  }
  free(row_of);
  free(product);
  return residual / (n * DBL_EPSILON * largest);
}

/* Leaves the program with status 1 unless `lu` and `swapped` decompose `a`, all three by rows. */
static inline void VerifyLu(const double *a, const double *lu, const int *swapped, int n) {
  double *by_columns = (double *)malloc((size_t)n * n * sizeof *by_columns);
  int *expected = (int *)malloc(n * sizeof *expected);
  if (by_columns == NULL || expected == NULL) err(kExitFailed, "verification");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) by_columns[(size_t)j * n + i] = a[(size_t)i * n + j];
  SequentialLu(by_columns, n, expected);
  for (int k = 0; k < n; k++)
    if (swapped[k] != expected[k])
      errx(kExitFailed, "verification failed: the pivot of stage %d is row %d, sequentially %d", k,
           swapped[k], expected[k]);
  const double residual = LuResidual(a, lu, swapped, n);
  if (!(residual <= 100.0))
    errx(kExitFailed, "verification failed: P A - L U is %.2g n eps max|A|", residual);
  printf("verified: the pivots of a sequential LU; P A - L U is %.2g n eps max|A|\n", residual);
  free(by_columns);
  free(expected);
}

#endif /* EXAMPLES_LU_CHECK_H_ */
