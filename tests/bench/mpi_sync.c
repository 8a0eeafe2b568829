/* mpi_sync SECONDS [PAUSE_US]: what MPI_Barrier takes; see bench_sync.c. */
#include "agree_mpi.h"
#include "measure.h"

static void barrier(void *context) {
  const double *pause_s = context;
  compute_for(*pause_s);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double budget_s = argc > 1 ? atof(argv[1]) : 1.0, pause_s = argc > 2 ? 1e-6 * atof(argv[2]) : 0;
  Timing timing = beside(pause_s, measure(barrier, &pause_s, agree, budget_s, 1e-3));
  if (mpi_pid() == 0) report("sync", timing);
  MPI_Finalize();
  return 0;
}
