/* new_form.h: what programs in the new form of BSPedupack share: long indices, vectors and
 * matrices, and a main that asks how many processes are wanted. */
#ifndef NEW_FORM_H_
#define NEW_FORM_H_

#define BSP_MULTICORE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

static long P; /* The number of processes wanted. */

/* A vector without elements is NULL, and is registered as it is. */
static inline double *vecallocd(size_t n) {
  double *x = n > 0 ? (double *)malloc(n * sizeof(double)) : NULL;
  if (n > 0 && x == NULL) bsp_abort("vecallocd: not enough memory");
  return x;
}

static inline long *vecalloci(size_t n) {
  long *x = n > 0 ? (long *)malloc(n * sizeof(long)) : NULL;
  if (n > 0 && x == NULL) bsp_abort("vecalloci: not enough memory");
  return x;
}

static inline double **matallocd(size_t m, size_t n) {
  double **rows = (double **)malloc((m + 1) * sizeof(double *));
  if (rows == NULL) bsp_abort("matallocd: not enough memory");
  rows[0] = vecallocd(m * n);
  for (size_t i = 1; i < m; i++) rows[i] = rows[i - 1] + n;
  return rows;
}

static inline void vecfreed(double *x) {
  if (x != NULL) free(x);
}

static inline void vecfreei(long *x) {
  if (x != NULL) free(x);
}

static inline void matfreed(double **rows) {
  vecfreed(rows[0]);
  free(rows);
}

/* The numbers of a cyclic distribution that process s has. */
static inline long nloc(long p, long s, long n) { return (n + p - s - 1) / p; }

static inline void read_number_of_processes(void) {
  printf("How many processors do you want to use?\n");
  fflush(stdout);
  if (scanf("%ld", &P) != 1) exit(EXIT_FAILURE);
  if (P > bsp_nprocs()) {
    printf("Sorry, only %u processors available.\n", bsp_nprocs());
    fflush(stdout);
    exit(EXIT_FAILURE);
  }
}

#endif /* NEW_FORM_H_ */
