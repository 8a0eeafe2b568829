/* Source: BSPedupack, programs, statement 1
 * Claim: The benchmark in the old form of BSPedupack: the time of vector operations and of full
 *   h-relations by bsp_put, gathered on process 0 and fitted there. Fewer processes than there are.
 * Stdin: {max(1, p - 1)}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/old_form.h"

#define MAXN 64 /* The longest vector. */
#define MAXH 16 /* The largest h-relation. */
#define NITERS 2

/* Time = g * h + l, by the sums of the normal equations. */
void leastsquares(int h0, int h1, double *t, double *g, double *l) {
  double n = h1 - h0 + 1, sum = 0.0, sumh = 0.0, sumt = 0.0, sumht = 0.0;
  int h;
  for (h = h0; h <= h1; h++) {
    sumt += t[h];
    sumht += t[h] * h;
    sum += h * (double)h;
    sumh += h;
  }
  *g = (n * sumht - sumh * sumt) / (n * sum - sumh * sumh);
  *l = (sumt - *g * sumh) / n;
}

/* The slowest of all, on process 0. */
double slowest(int p, int s, double time, double *Time) {
  int s1;
  double result = 0.0;
  bsp_put(0, &time, Time, s * SZDBL, SZDBL);
  bsp_sync();
  for (s1 = 0; s == 0 && s1 < p; s1++) result = MAX(result, Time[s1]);
  bsp_sync();
  return result;
}

void daxpy(int n, double *x, double *y) {
  int i, iter;
  for (i = 0; i < n; i++) x[i] = y[i] = i;
  for (iter = 0; iter < NITERS; iter++) {
    for (i = 0; i < n; i++) y[i] += 2.0 * x[i];
  }
  for (i = 0; i < n; i++) {
    if (y[i] != (1.0 + 2.0 * NITERS) * i) bsp_abort("daxpy: y[%d] is %lf", i, y[i]);
  }
}

/* Number i of an h-relation of process s: who gets it, and where. */
int destproc(int p, int s, int i) { return p == 1 ? 0 : (s + 1 + i % (p - 1)) % p; }
int destindex(int p, int s, int i) { return p == 1 ? i : s + i / (p - 1) * p; }

void bspbench(void) {
  int p, s, s1, i, h, n, iter;
  double *Time, *dest, *src, t[MAXH + 1], x[MAXN], y[MAXN], time0, g, l;
  bsp_begin(P);
  p = bsp_nprocs();
  s = bsp_pid();
  Time = vecallocd(p);
  dest = vecallocd(2 * MAXH + p);
  src = vecallocd(MAXH);
  bsp_push_reg(Time, p * SZDBL);
  bsp_push_reg(dest, (2 * MAXH + p) * SZDBL);
  bsp_sync();
  for (n = 1; n <= MAXN; n *= 2) {
    time0 = bsp_time();
    daxpy(n, x, y);
    if (slowest(p, s, bsp_time() - time0, Time) < 0.0) bsp_abort("time goes back");
  }
  for (i = 0; i < MAXH; i++) src[i] = 1000.0 * s + i;
  for (h = 0; h <= MAXH; h++) {
    bsp_sync();
    time0 = bsp_time();
    for (iter = 0; iter < NITERS; iter++) {
      for (i = 0; i < h; i++)
        bsp_put(destproc(p, s, i), &src[i], dest, destindex(p, s, i) * SZDBL, SZDBL);
      bsp_sync();
    }
    t[h] = slowest(p, s, (bsp_time() - time0) / NITERS, Time);
  }
  for (s1 = 0; s1 < p; s1++) {
    for (i = 0; i < MAXH; i++) {
      if (destproc(p, s1, i) == s && dest[destindex(p, s1, i)] != 1000.0 * s1 + i)
        bsp_abort("number %d of process %d has not come", i, s1);
    }
  }
  if (s == 0) {
    leastsquares(0, MAXH, t, &g, &l);
    if (g == g && l == l) printf("ok\n");
    fflush(stdout);
  }
  bsp_pop_reg(dest);
  bsp_pop_reg(Time);
  vecfreed(src);
  vecfreed(dest);
  vecfreed(Time);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspbench, argc, argv);
  read_number_of_processes();
  bspbench();
  exit(0);
}
