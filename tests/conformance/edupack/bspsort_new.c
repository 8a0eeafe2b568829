/* Source: BSPedupack, programs, statement 2
 * Claim: A sample sort in the new form of BSPedupack: blocks that differ in size by one, samples by
 *   bsp_put to all, the sizes of parts by bsp_put, the parts by bsp_put to where they belong.
 * Procs: 1 2 4 7 32
 * Stdin: {p}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/new_form.h"

#define LENGTH 2000 /* At least p squared. */

int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* In block distribution: the first of process s. */
long block_start(long p, long s, long n) { return s * (n / p) + (s < n % p ? s : n % p); }

/* Splits x, nl sorted numbers, after the samples that end the parts; parts[t] is where part t
 * begins, parts[p] is nl. */
void split(long p, long nl, const double *x, double *sample, long *parts) {
  qsort(sample, p * p, sizeof(double), compare_doubles);
  long i = 0;
  for (long t = 0; t < p; t++) {
    parts[t] = i;
    while (i < nl && (t == p - 1 || x[i] < sample[(t + 1) * p])) i++;
  }
  parts[p] = nl;
}

/* x: nl numbers; *nl becomes the number of those that the result has here, at most those of the
 * theory, nmax. */
double *bspsort(double *x, long *nl, long nmax) {
  long p = bsp_nprocs(), s = bsp_pid();
  double *sample = vecallocd(p * p), *result = vecallocd(nmax);
  long *sizes = vecalloci(p), *starts = vecalloci(p), *parts = vecalloci(p + 1);
  bsp_push_reg(sample, p * p * sizeof(double));
  bsp_push_reg(sizes, p * sizeof(long));
  bsp_push_reg(starts, p * sizeof(long));
  bsp_push_reg(result, nmax * sizeof(double));
  bsp_sync();
  qsort(x, *nl, sizeof(double), compare_doubles);
  for (long t = 0; t < p; t++) {
    for (long i = 0; i < p; i++)
      bsp_put(t, &x[block_start(p, i, *nl)], sample, (s * p + i) * sizeof(double), sizeof(double));
  }
  bsp_sync();
  split(p, *nl, x, sample, parts);
  for (long t = 0; t < p; t++) {
    long size = parts[t + 1] - parts[t];
    bsp_put(t, &size, sizes, s * sizeof(long), sizeof(long));
  }
  bsp_sync();
  long start = 0;
  for (long t = 0; t < p; t++) {
    bsp_put(t, &start, starts, s * sizeof(long), sizeof(long));
    start += sizes[t];
  }
  if (start > nmax) bsp_abort("bspsort: %ld numbers come together\n", start);
  *nl = start;
  bsp_sync();
  for (long t = 0; t < p; t++) {
    size_t size = (parts[t + 1] - parts[t]) * sizeof(double);
    bsp_put(t, x + parts[t], result, starts[t] * sizeof(double), size);
  }
  bsp_sync();
  qsort(result, *nl, sizeof(double), compare_doubles);
  bsp_pop_reg(result);
  bsp_pop_reg(starts);
  bsp_pop_reg(sizes);
  bsp_pop_reg(sample);
  vecfreei(parts);
  vecfreei(starts);
  vecfreei(sizes);
  vecfreed(sample);
  return result;
}

/* All that this process has lies between its neighbours', and nothing was lost. */
void check(long nl, const double *x) {
  long p = bsp_nprocs(), s = bsp_pid();
  double mine[2] = {0.0, 0.0}, *all = vecallocd(2 * p);
  bsp_push_reg(all, 2 * p * sizeof(double));
  bsp_sync();
  for (long i = 0; i < nl; i++) mine[0] += x[i];
  mine[1] = nl;
  for (long t = 0; t < p; t++) bsp_put(t, mine, all, 2 * s * sizeof(double), 2 * sizeof(double));
  bsp_sync();
  long first = 0;
  for (long t = 0; t < s; t++) first += all[2 * t + 1];
  for (long i = 0; i < nl; i++) {
    if (x[i] != first + i) bsp_abort("number %ld is %lf\n", first + i, x[i]);
  }
  double sum = 0.0;
  for (long t = 0; t < p; t++) sum += all[2 * t];
  if (sum != LENGTH * (LENGTH - 1.0) / 2.0) bsp_abort("the sum is %lf\n", sum);
  bsp_pop_reg(all);
  vecfreed(all);
}

void bspsort_test(void) {
  bsp_begin(P);
  long p = bsp_nprocs(), s = bsp_pid(), n = LENGTH, nl = n / p + (s < n % p);
  double *x = vecallocd(nl);
  for (long i = 0; i < nl; i++) x[i] = (block_start(p, s, n) + i) * 1013 % n;
  double *sorted = bspsort(x, &nl, 2 * n / p + p);
  check(nl, sorted);
  if (s == 0) printf("ok\n");
  vecfreed(sorted);
  vecfreed(x);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspsort_test, argc, argv);
  read_number_of_processes();
  bspsort_test();
  exit(EXIT_SUCCESS);
}
