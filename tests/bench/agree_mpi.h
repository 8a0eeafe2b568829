/* agree_mpi.h: Agree (measure.h) by a broadcast, and the pid and the number of processes. */
#ifndef TESTS_BENCH_AGREE_MPI_H_
#define TESTS_BENCH_AGREE_MPI_H_

#include <mpi.h>

static inline long agree(long value) {
  MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return value;
}

static inline int mpi_pid(void) {
  int pid;
  MPI_Comm_rank(MPI_COMM_WORLD, &pid);
  return pid;
}

static inline int mpi_nprocs(void) {
  int nprocs;
  MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
  return nprocs;
}

#endif /* TESTS_BENCH_AGREE_MPI_H_ */
