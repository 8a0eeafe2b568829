/* mpi_exchange even|other SECONDS NBYTES...: the total exchange by MPI_Alltoallv, NBYTES out of
 * every process. alltoallv.NBYTES: both sides know all sizes beforehand. counted.NBYTES: the
 * receivers learn them first, by MPI_Alltoall, as they must where a BSP program puts or sends. */
#include "agree_mpi.h"
#include "exchange_pattern.h"

enum { kProcessesMax = 1024 };
static int out_nbytes[kProcessesMax], out_start[kProcessesMax];
static int in_nbytes[kProcessesMax], in_start[kProcessesMax];

static void alltoallv(const Exchange *x) {
  MPI_Alltoallv(x->out, out_nbytes, out_start, MPI_BYTE, x->in, in_nbytes, in_start, MPI_BYTE,
                MPI_COMM_WORLD);
}

static void by_alltoallv(void *context) { alltoallv(context); }

static void by_counted(void *context) {
  const Exchange *x = context;
  MPI_Alltoall(out_nbytes, 1, MPI_INT, in_nbytes, 1, MPI_INT, MPI_COMM_WORLD);
  for (int q = 0, start = 0; q < x->nprocs; start += in_nbytes[q], ++q) in_start[q] = start;
  alltoallv(x);
}

static void measure_size(Exchange *x, double budget_s) {
  char name[64];
  for (int q = 0; q < x->nprocs; ++q) {
    out_nbytes[q] = block_nbytes(x, x->pid, q);
    in_nbytes[q] = block_nbytes(x, q, x->pid);
    out_start[q] = in_start[q] = block_start(x, q);
  }
  Timing bare = measure_exchange(x, by_alltoallv, agree, budget_s);
  Timing counted = measure_exchange(x, by_counted, agree, budget_s);
  if (x->pid != 0) return;
  snprintf(name, sizeof name, "alltoallv.%zu", x->nbytes);
  report(name, bare);
  snprintf(name, sizeof name, "counted.%zu", x->nbytes);
  report(name, counted);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  require(argc > 3, "usage: mpi_exchange even|other SECONDS NBYTES...");
  Exchange x = {.pid = mpi_pid(), .nprocs = mpi_nprocs()};
  require(x.nprocs <= kProcessesMax, "too many processes");
  x.to_other_only = strcmp(argv[1], "other") == 0;
  size_t nbytes_max = 0;
  for (int i = 3; i < argc; ++i)
    if ((size_t)atol(argv[i]) > nbytes_max) nbytes_max = (size_t)atol(argv[i]);
  x.out = allocate(nbytes_max);
  x.in = allocate(nbytes_max);
  for (int i = 3; i < argc; ++i) {
    x.nbytes = (size_t)atol(argv[i]);
    measure_size(&x, atof(argv[2]));
  }
  MPI_Finalize();
  return 0;
}
