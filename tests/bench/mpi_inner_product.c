/* mpi_inner_product SECONDS: see bench_inner_product.c; by MPI_Allreduce. */
#include "agree_mpi.h"
#include "measure.h"

static void inner_product(void *context) {
  double *number = context, sum = 0;
  int p;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  *number += 1;
  double mine = *number + mpi_pid();
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  require(sum == p * *number + p * (p - 1) / 2.0, "another sum");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double number = 0;
  Timing timing = measure(inner_product, &number, agree, argc > 1 ? atof(argv[1]) : 1.0, 1e-3);
  if (mpi_pid() == 0) report("inner", timing);
  MPI_Finalize();
  return 0;
}
