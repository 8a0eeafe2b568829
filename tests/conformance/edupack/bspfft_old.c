/* Source: BSPedupack, programs, statement 1
 * Claim: A Fourier transform in the old form of BSPedupack: pairs of doubles, tables of weights,
 *   one packet for each process in the redistribution; forward and back.
 * Procs: 1 2 4 64
 * Stdin: {p}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/old_form.h"

#define LENGTH 4096 /* At least p squared. */

/* w[2k], w[2k+1]: exp(-2 pi i k / n), k < n / 2. */
void ufft_init(int n, double *w) {
  int k;
  for (k = 0; k < n / 2; k++) {
    w[2 * k] = cos(2.0 * M_PI * k / n);
    w[2 * k + 1] = -sin(2.0 * M_PI * k / n);
  }
}

void permute(double *x, int n) {
  int j, r = 0, bit;
  double t;
  for (j = 0; j < n; j++) {
    if (j < r) {
      t = x[2 * j], x[2 * j] = x[2 * r], x[2 * r] = t;
      t = x[2 * j + 1], x[2 * j + 1] = x[2 * r + 1], x[2 * r + 1] = t;
    }
    for (bit = n / 2; bit > 0 && (r ^= bit) < bit; bit /= 2) continue;
  }
}

/* x *= the weight with the given parts, conjugated if sign is 1. */
void weigh(double *x, double re, double im, int sign) {
  double a = x[0], b = x[1];
  im *= -sign;
  x[0] = re * a - im * b;
  x[1] = re * b + im * a;
}

void ufft(double *x, int n, int sign, double *w) {
  int k, r, j, i;
  double t[2];
  permute(x, n);
  for (k = 2; k <= n; k *= 2) {
    for (r = 0; r < n; r += k) {
      for (j = 0; j < k / 2; j++) {
        double *even = x + 2 * (r + j), *odd = even + k;
        t[0] = odd[0], t[1] = odd[1];
        weigh(t, w[2 * (j * (n / k))], w[2 * (j * (n / k)) + 1], sign);
        for (i = 0; i < 2; i++) odd[i] = even[i] - t[i], even[i] += t[i];
      }
    }
  }
}

/* Numbers k, k + p, ... of all processes come together on process k mod p. */
void bspredistr(double *x, int np, int p, int s, double *y, double *packet) {
  int t, i, mine = np / p;
  for (t = 0; t < p; t++) {
    for (i = 0; i < mine; i++) {
      packet[2 * i] = x[2 * (t + i * p)];
      packet[2 * i + 1] = x[2 * (t + i * p) + 1];
    }
    bsp_put(t, packet, y, s * mine * 2 * SZDBL, mine * 2 * SZDBL);
  }
  bsp_sync();
}

void bspfft(double *x, int n, int p, int s, int sign, double *wn, double *wp, double *y) {
  int np = n / p, mine = np / p, k, i, q;
  double *packet = vecallocd(2 * mine), *line = vecallocd(2 * p);
  ufft(x, np, sign, wn);
  for (k = 0; k < np; k++) {
    double angle = 2.0 * M_PI * s * k / n;
    weigh(x + 2 * k, cos(angle), -sin(angle), sign);
  }
  bspredistr(x, np, p, s, y, packet);
  for (i = 0; i < mine; i++) {
    for (q = 0; q < 2 * p; q++) line[q] = y[2 * (q / 2 * mine + i) + q % 2];
    ufft(line, p, sign, wp);
    for (q = 0; q < 2 * p; q++) x[2 * (i + q / 2 * mine) + q % 2] = line[q];
  }
  if (sign > 0) {
    for (k = 0; k < 2 * np; k++) x[k] /= n;
  }
  vecfreed(line);
  vecfreed(packet);
}

/* Of three frequencies, so that the transform is known. */
double part_of_sample(int j, int n, int part) {
  static const int frequencies[] = {0, 5, LENGTH - 7};
  double sum = 0.0;
  int f;
  for (f = 0; f < 3; f++) {
    double angle = 2.0 * M_PI * ((double)frequencies[f] * j / n);
    sum += (f + 1) * (part == 0 ? cos(angle) : sin(angle));
  }
  return sum;
}

void bspfft_test(void) {
  int p, s, n = LENGTH, np, k, q;
  double *x, *y, *wn, *wp;
  bsp_begin(P);
  p = bsp_nprocs();
  s = bsp_pid();
  np = n / p;
  x = vecallocd(2 * np);
  y = vecallocd(2 * np);
  wn = vecallocd(np);
  wp = vecallocd(p);
  bsp_push_reg(y, 2 * np * SZDBL);
  bsp_sync();
  ufft_init(np, wn);
  ufft_init(p, wp);
  for (q = 0; q < 2 * np; q++) x[q] = part_of_sample(q / 2 * p + s, n, q % 2);
  bspfft(x, n, p, s, -1, wn, wp, y);
  for (q = 0; q < 2 * np; q++) {
    k = q / 2 * p + s;
    if (fabs(x[q] - (q % 2 ? 0 : k == 0 ? 1 : k == 5 ? 2 : k == n - 7 ? 3 : 0) * (double)n) > 1e-6)
      bsp_abort("number %d of the transform is wrong", k);
  }
  bsp_sync();
  bspfft(x, n, p, s, 1, wn, wp, y);
  for (q = 0; q < 2 * np; q++) {
    if (fabs(x[q] - part_of_sample(q / 2 * p + s, n, q % 2)) > 1e-9)
      bsp_abort("number %d of the inverse is wrong", q / 2 * p + s);
  }
  bsp_sync();
  if (s == 0) printf("ok\n");
  bsp_pop_reg(y);
  vecfreed(wp);
  vecfreed(wn);
  vecfreed(y);
  vecfreed(x);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspfft_test, argc, argv);
  read_number_of_processes();
  bspfft_test();
  exit(0);
}
