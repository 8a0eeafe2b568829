/* old_form.h: what programs in the old form of BSPedupack share: vectors and matrices, and a main
 * that asks how many processes are wanted. */
#ifndef OLD_FORM_H_
#define OLD_FORM_H_

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

#define SZDBL (sizeof(double))
#define SZINT (sizeof(int))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static int P; /* The number of processes wanted. */

/* A vector without elements is NULL, and is registered as it is. */
static inline double *vecallocd(int n) {
  double *x = n > 0 ? (double *)malloc(n * SZDBL) : NULL;
  if (n > 0 && x == NULL) bsp_abort("vecallocd: not enough memory");
  return x;
}

static inline int *vecalloci(int n) {
  int *x = n > 0 ? (int *)malloc(n * SZINT) : NULL;
  if (n > 0 && x == NULL) bsp_abort("vecalloci: not enough memory");
  return x;
}

static inline void vecfreed(double *x) {
  if (x != NULL) free(x);
}

static inline void vecfreei(int *x) {
  if (x != NULL) free(x);
}

/* The numbers of a cyclic distribution that process s has. */
static inline int nloc(int p, int s, int n) { return (n + p - s - 1) / p; }

static inline void read_number_of_processes(void) {
  printf("How many processors do you want to use?\n");
  fflush(stdout);
  if (scanf("%d", &P) != 1) exit(2);
  if (P > (int)bsp_nprocs()) {
    printf("Sorry, not enough processors available.\n");
    exit(1);
  }
}

#endif /* OLD_FORM_H_ */
