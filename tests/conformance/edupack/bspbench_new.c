/* Source: BSPedupack, programs, statement 2
 * Claim: The benchmark in the new form of BSPedupack: the time of full h-relations by bsp_put and
 *   by bsp_get, the slowest of all on every process. Fewer processes than there are.
 * Stdin: {max(1, p - 1)}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/new_form.h"

#define MAXH 16
#define NITERS 2

/* The largest time of all processes, on each of them. */
double slowest(double time, double *Time) {
  long p = bsp_nprocs(), s = bsp_pid();
  double result = 0.0;
  for (long t = 0; t < p; t++) bsp_put(t, &time, Time, s * sizeof(double), sizeof(double));
  bsp_sync();
  for (long t = 0; t < p; t++) {
    if (Time[t] > result) result = Time[t];
  }
  bsp_sync();
  return result;
}

/* Number i of an h-relation goes to the next process but for this one, to a place of its own. */
long destproc(long p, long s, long i) { return p == 1 ? 0 : (s + 1 + i % (p - 1)) % p; }
long destindex(long p, long s, long i) { return p == 1 ? i : s + i / (p - 1) * p; }

typedef enum { by_put, by_get } call;

void relate(long h, call how, double *src, double *dest, double *got) {
  long p = bsp_nprocs(), s = bsp_pid();
  for (long i = 0; i < h; i++) {
    long to = destproc(p, s, i);
    if (how == by_get)
      bsp_get(to, src, i * sizeof(double), &got[i], sizeof(double));
    else
      bsp_put(to, &src[i], dest, destindex(p, s, i) * sizeof(double), sizeof(double));
  }
  bsp_sync();
}

void bspbench(void) {
  bsp_begin(P);
  long p = bsp_nprocs(), s = bsp_pid(), ndest = 2 * MAXH + p;
  double *Time = vecallocd(p), *src = vecallocd(MAXH), *got = vecallocd(MAXH);
  double *dest = vecallocd(ndest), total = 0.0;
  bsp_push_reg(Time, p * sizeof(double));
  bsp_push_reg(src, MAXH * sizeof(double));
  bsp_push_reg(dest, ndest * sizeof(double));
  bsp_sync();
  for (long i = 0; i < MAXH; i++) src[i] = 1000.0 * s + i;
  for (long h = 0; h <= MAXH; h++) {
    double time0 = bsp_time();
    for (long iter = 0; iter < NITERS; iter++) {
      relate(h, by_put, src, dest, got);
      relate(h, by_get, src, dest, got);
    }
    total += slowest(bsp_time() - time0, Time);
  }
  for (long t = 0; t < p; t++) {
    for (long i = 0; i < MAXH; i++) {
      if (destproc(p, t, i) == s && dest[destindex(p, t, i)] != 1000.0 * t + i)
        bsp_abort("number %ld of process %ld has not come\n", i, t);
    }
  }
  for (long i = 0; i < MAXH; i++) {
    if (got[i] != 1000.0 * destproc(p, s, i) + i) bsp_abort("number %ld was not got\n", i);
  }
  if (s == 0 && total > 0.0) printf("ok\n");
  bsp_pop_reg(dest);
  bsp_pop_reg(src);
  bsp_pop_reg(Time);
  vecfreed(dest);
  vecfreed(got);
  vecfreed(src);
  vecfreed(Time);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspbench, argc, argv);
  read_number_of_processes();
  bspbench();
  exit(EXIT_SUCCESS);
}
