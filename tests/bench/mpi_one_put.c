/* mpi_one_put time|hold N NBYTES: process 0 passes NBYTES to process 1, N times, as a program does
 * whose processes do not know beforehand how much each sends to each: MPI_Alltoall of the counts,
 * then MPI_Alltoallv; see one_transfer.h. */
#include "agree_mpi.h"
#include "one_transfer.h"

enum { kProcessesMax = 64 };
static uint64_t *block;
static int nbytes;

static void transfer(void) {
  int out[kProcessesMax] = {0}, in[kProcessesMax], start[kProcessesMax] = {0};
  if (mpi_pid() == 0) out[1] = nbytes;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(block, out, start, MPI_BYTE, block, in, start, MPI_BYTE, MPI_COMM_WORLD);
}

static void time_transfers(int ntransfers) {
  static Times mine;
  Times *all = allocate((size_t)mpi_nprocs() * sizeof(Times));
  for (int t = 0; t < ntransfers; ++t) {
    if (mpi_pid() == 0) fill(block, (size_t)nbytes, t + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    mine.start_s[t] = now_s();
    transfer();
    mine.end_s[t] = now_s();
    if (mpi_pid() == 1) check(block, (size_t)nbytes, t + 1);
  }
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (mpi_pid() == 0) report_transfers(all, mpi_nprocs(), ntransfers);
}

static void hold_transfers(int ntransfers) {
  for (int t = 0; t < ntransfers; ++t) {
    transfer();
    hold();
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  require(argc == 4 && mpi_nprocs() >= 2, "usage: mpi_one_put time|hold N NBYTES");
  require(mpi_nprocs() <= kProcessesMax, "too many processes");
  int ntransfers = atoi(argv[2]);
  require(ntransfers >= 1 && ntransfers <= kTransfersMax, "1 <= N <= 64");
  nbytes = atoi(argv[3]);
  if (mpi_pid() <= 1) block = allocate((size_t)nbytes);
  if (strcmp(argv[1], "time") == 0)
    time_transfers(ntransfers);
  else
    hold_transfers(ntransfers);
  MPI_Finalize();
  return 0;
}
