/* mpi_sync SECONDS: what MPI_Barrier takes. */
#include "agree_mpi.h"
#include "measure.h"

static void barrier(void *context) {
  (void)context;
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double budget_s = argc > 1 ? atof(argv[1]) : 1.0;
  Timing timing = measure(barrier, NULL, agree, budget_s, 1e-3);
  if (mpi_pid() == 0) report("sync", timing);
  MPI_Finalize();
  return 0;
}
