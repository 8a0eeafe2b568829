/* Source: BSPedupack, programs, statement 2
 * Claim: A Fourier transform in the new form of BSPedupack: complex numbers of C99, the
 *   redistribution by bsp_put, the inverse gives back what was there.
 * Procs: 1 2 4
 */
#define BSP_MULTICORE
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "bsp.h"

#define PI 3.14159265358979323846
#define LENGTH 256

long P;

/* Sequential and unordered: decimation in time over bit-reversed input. */
static void ufft(double complex *x, long n, int sign) {
  for (long k = 2; k <= n; k *= 2) {
    for (long r = 0; r < n; r += k) {
      for (long j = 0; j < k / 2; j++) {
        double complex tau = cexp(sign * 2.0 * PI * I * j / k) * x[r + j + k / 2];
        x[r + j + k / 2] = x[r + j] - tau;
        x[r + j] += tau;
      }
    }
  }
}

static void permute(double complex *x, long n) {
  for (long j = 0, r = 0; j < n; j++) {
    if (j < r) {
      double complex t = x[j];
      x[j] = x[r];
      x[r] = t;
    }
    for (long bit = n / 2; (r ^= bit) < bit && bit > 0; bit /= 2) continue;
  }
}

/* x in cyclic distribution, n/p numbers here, p^2 <= n: a transform of them, twiddles, and a
 * transform over the processes after a redistribution. */
static void bspfft(double complex *x, long n, int sign) {
  long p = bsp_nprocs(), s = bsp_pid(), np = n / p, mine = np / p;
  double complex *y = malloc(np * sizeof(double complex));
  bsp_push_reg(y, np * sizeof(double complex));
  bsp_push_reg(x, np * sizeof(double complex));
  bsp_sync();
  permute(x, np);
  ufft(x, np, sign);
  for (long k = 0; k < np; k++) {
    x[k] *= cexp(sign * 2.0 * PI * I * s * k / n);
    bsp_put(k % p, &x[k], y, ((k / p) * p + s) * sizeof(double complex), sizeof(double complex));
  }
  bsp_sync();
  for (long i = 0; i < mine; i++) {
    permute(y + i * p, p);
    ufft(y + i * p, p, sign);
    /* Number s + i p + r n/p of the result; p divides n/p, so it belongs here again. */
    for (long r = 0; r < p; r++) x[i + r * mine] = y[i * p + r];
  }
  bsp_sync();
  bsp_pop_reg(x);
  bsp_pop_reg(y);
  free(y);
}

static double complex sample(long j) { return (j * 17 % 31) / 31.0 + I * (j * 5 % 13) / 13.0; }

void bspfft_test(void) {
  bsp_begin(P);
  long p = bsp_nprocs(), s = bsp_pid(), n = LENGTH, np = n / p;
  double complex *x = malloc(np * sizeof(double complex));
  for (long j = 0; j < np; j++) x[j] = sample(j * p + s);
  bspfft(x, n, -1);
  for (long j = 0; j < np; j++) {
    double complex sum = 0.0;
    for (long i = 0; i < n; i++) sum += sample(i) * cexp(-2.0 * PI * I * i * (j * p + s) / n);
    if (cabs(sum - x[j]) > 1e-9 * n) bsp_abort("number %ld of the transform is wrong\n", j * p + s);
  }
  bspfft(x, n, 1);
  for (long j = 0; j < np; j++) {
    if (cabs(x[j] / n - sample(j * p + s)) > 1e-12 * n) bsp_abort("the inverse is wrong\n");
  }
  free(x);
  bsp_sync();
  if (s == 0) printf("ok\n");
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspfft_test, argc, argv);
  P = bsp_nprocs();
  bspfft_test();
  return EXIT_SUCCESS;
}
