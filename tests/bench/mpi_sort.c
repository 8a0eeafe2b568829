/* mpi_sort SECONDS N...: as bench_sort: samples by MPI_Allgather, the sizes of the runs by
 * MPI_Alltoall, the runs by MPI_Alltoallv straight into their places. */
#include "agree_mpi.h"
#include "sorted_runs.h"

static void exchange_runs(void *context) {
  Sorter *s = context;
  const int p = s->nprocs;
  double chosen[kSortersMax];
  int out_nbytes[kSortersMax], out_start[kSortersMax];
  int in_nbytes[kSortersMax], in_start[kSortersMax];
  for (int i = 0; i < p; ++i) chosen[i] = sample(s, i);
  MPI_Allgather(chosen, p, MPI_DOUBLE, s->samples, p, MPI_DOUBLE, MPI_COMM_WORLD);
  split(s);
  for (int q = 0; q < p; ++q) {
    out_nbytes[q] = run_nbytes(s, q);
    out_start[q] = s->start[q] * (int)sizeof(double);
  }
  MPI_Alltoall(out_nbytes, 1, MPI_INT, in_nbytes, 1, MPI_INT, MPI_COMM_WORLD);
  for (int q = 0, start = 0; q < p; start += in_nbytes[q], ++q) in_start[q] = start;
  MPI_Alltoallv(s->mine, out_nbytes, out_start, MPI_BYTE, s->got, in_nbytes, in_start, MPI_BYTE,
                MPI_COMM_WORLD);
}

static void nothing(Sorter *s) { (void)s; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  time_sorts(exchange_runs, agree, mpi_pid(), mpi_nprocs(), argc, argv, nothing, nothing);
  MPI_Finalize();
  return 0;
}
