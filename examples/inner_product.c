/* inner_product.c: the inner product of two vectors, the first real BSP program.
 *
 *   bspcc inner_product.c -o inner_product && bsprun -n 4 ./inner_product --n=1000000 --verify
 *
 * x = (1, 2, ..., n) and y = x are distributed cyclically: component i is on process i mod p.
 * Superstep 0: process 0 hands n to all. Superstep 1: every process multiplies and adds what it
 * has, 2 n/p operations, and puts the partial sum into element s of an array on each process.
 * Superstep 2: every process adds the p partial sums, in the same order: all get the same bits.
 * Cost of the product: 2 n/p + p + 8 p g + l.
 */
#include <bsp.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>

#include "distribution.h"
#include "options.h"

static int n = 1000; /* Valid on process 0 first, on all after the broadcast. */
static double result;

static const char kUsage[] =
    "usage: inner_product [--n=N] [--verify]\n"
    "The inner product of (1, 2, ..., N) with itself.\n"
    "  --n=N     components, 1 to 100000000; default 1000\n"
    "  --verify  compare with N (N + 1) (2 N + 1) / 6\n";

/* x . y, on every process; each passes its own `nlocal` components. One superstep. */
static double InnerProduct(const double *x, const double *y, int nlocal) {
  const int p = bsp_nprocs();
  double *partial = Allocate(p, sizeof *partial);
  bsp_push_reg(partial, p * (int)sizeof *partial);
  bsp_sync(); /* From here on `partial` may be written to by others. */

  double sum = 0.0;
  for (int i = 0; i < nlocal; i++) sum += x[i] * y[i];
  for (int pid = 0; pid < p; pid++)
    bsp_put(pid, &sum, partial, bsp_pid() * (int)sizeof sum, sizeof sum);
  bsp_pop_reg(partial);
  bsp_sync();

  double product = 0.0;
  for (int pid = 0; pid < p; pid++) product += partial[pid];
  free(partial);
  return product;
}

static void Spmd(void) {
  bsp_begin(bsp_nprocs());
  BroadcastFromZero(&n, sizeof n);
  const int p = bsp_nprocs(), s = bsp_pid();
  const int nlocal = (n - s + p - 1) / p;
  double *x = Allocate(nlocal, sizeof *x);
  for (int i = 0; i < nlocal; i++) x[i] = (double)s + (double)i * p + 1.0;
  const double product = InnerProduct(x, x, nlocal);
  if (s == 0) result = product;
  free(x);
  bsp_end();
}

int main(int argc, char **argv) {
  static const struct option kOptions[] = {{"n", required_argument, NULL, 'n'},
                                           {"verify", no_argument, NULL, 'v'},
                                           {"help", no_argument, NULL, 'h'},
                                           {NULL, 0, NULL, 0}};
  int verify = 0, option;
  bsp_init(Spmd, argc, argv); /* Only process 0 passes; the others wait in bsp_begin. */
  while ((option = getopt_long(argc, argv, "h", kOptions, NULL)) != -1) {
    if (option == 'n')
      n = IntegerOption("--n", optarg, 1, 100000000);
    else if (option == 'v')
      verify = 1;
    else
      ExitWithUsage(option, kUsage);
  }
  if (optind < argc) errx(kExitUsage, "unexpected argument '%s'; see --help", argv[optind]);

  Spmd();

  printf("inner product: %.17g\n", result);
  if (!verify) return 0;
  const double expected = (double)n * ((double)n + 1.0) * (2.0 * n + 1.0) / 6.0;
  /* Adding n positive numbers in any order is off by at most n rounding errors. */
  if (!(fabs(result - expected) <= 1.2e-16 * n * expected))
    errx(kExitFailed, "verification failed: n (n + 1) (2 n + 1) / 6 is %.17g", expected);
  printf("verified: n (n + 1) (2 n + 1) / 6 is %.17g\n", expected);
  return 0;
}
