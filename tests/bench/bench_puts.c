/* bench_puts SECONDS: puts of one number and of 1 MiB from each process to the next, by C calls.
 * bench_puts_typed.cc and bench_puts.py do the same by bsp.hpp and from Python. */
#include <bsp.h>

#include "measure.h"

enum { kSmallPuts = 4096, kLargePuts = 8, kLargeNumbers = (1 << 20) / 8 };

static double samples[kSamplesMax];

/* Supersteps of `puts` puts of `count` numbers each, for `seconds` on process 0. */
static void time_puts(const char *name, double seconds, double *area, const double *source,
                      int puts, int count) {
  int going = 1, nsamples = 0, next = (bsp_pid() + 1) % bsp_nprocs();
  bsp_push_reg(&going, sizeof going);
  bsp_sync();
  double end_s = now_s() + seconds;
  while (going) {
    double start_s = now_s();
    for (int i = 0; i < puts; ++i) {
      bsp_put(next, source, area, i * count * (int)sizeof *area, count * (int)sizeof *area);
    }
    bsp_sync();
    samples[nsamples++] = (now_s() - start_s) / puts;
    int more = now_s() < end_s && nsamples < kSamplesMax;
    for (int pid = 0; bsp_pid() == 0 && pid < bsp_nprocs(); ++pid) {
      bsp_put(pid, &more, &going, 0, sizeof more);
    }
    bsp_sync();
  }
  require(area[0] == source[0] && area[puts * count - 1] == source[count - 1], name);
  bsp_pop_reg(&going);
  if (bsp_pid() == 0) figure(name, quantile(samples, nsamples, 0.5));
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  require(argc == 2, "usage: bench_puts SECONDS");
  double *area = allocate(kLargePuts * kLargeNumbers * sizeof *area);
  double *source = allocate(kLargeNumbers * sizeof *source);
  for (int i = 0; i < kLargeNumbers; ++i) source[i] = i + 1.5;
  bsp_push_reg(area, kLargePuts * kLargeNumbers * (int)sizeof *area);
  bsp_sync();
  time_puts("put.8", atof(argv[1]), area, source, kSmallPuts, 1);
  time_puts("put.1048576", atof(argv[1]), area, source, kLargePuts, kLargeNumbers);
  bsp_end();
  return 0;
}
