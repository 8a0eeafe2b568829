/* bench_inner_product SECONDS: the sum of one number of each process, as textbooks write it. The
 * function registers its own variable, puts into that of all, and ends the registration: two
 * supersteps, each with a change of registrations. */
#include "agree_bsp.h"
#include "measure.h"

enum { kProcessesMax = 64 };

static double sum_of_all(double mine) {
  static double parts[kProcessesMax];
  int p = bsp_nprocs();
  bsp_push_reg(parts, p * (int)sizeof mine);
  bsp_sync();
  for (int q = 0; q < p; ++q) bsp_put(q, &mine, parts, bsp_pid() * (int)sizeof mine, sizeof mine);
  bsp_sync();
  double sum = 0;
  for (int q = 0; q < p; ++q) sum += parts[q];
  bsp_pop_reg(parts);
  return sum;
}

static void inner_product(void *context) {
  double *number = context;
  int p = bsp_nprocs();
  *number += 1;
  require(sum_of_all(*number + bsp_pid()) == p * *number + p * (p - 1) / 2.0, "another sum");
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  require(bsp_nprocs() <= kProcessesMax, "at most 64 processes");
  agree_begin();
  double number = 0;
  Timing timing = measure(inner_product, &number, agree, argc > 1 ? atof(argv[1]) : 1.0, 1e-3);
  if (bsp_pid() == 0) report("inner", timing);
  bsp_end();
  return 0;
}
