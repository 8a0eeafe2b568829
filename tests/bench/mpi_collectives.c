/* mpi_collectives SECONDS NBYTES...: MPI_Bcast, MPI_Allreduce and MPI_Scan of as much as
 * bench_collectives moves. The root's vector is first copied to where the others get it, as
 * bsp_bcast does. */
#include "agree_mpi.h"
#include "collective_steps.h"

static void bcast(void *context) {
  const Vectors *v = context;
  if (mpi_pid() == 0) memcpy(v->dst, v->src, (size_t)v->nbytes);
  MPI_Bcast(v->dst, v->nbytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void reduce(void *context) {
  const Vectors *v = context;
  MPI_Allreduce(v->src, v->dst, v->nbytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
}
static void scan(void *context) {
  const Vectors *v = context;
  MPI_Scan(v->src, v->dst, v->nbytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  const Collective collectives[] = {
      {"bcast", bcast, first_value}, {"reduce", reduce, sum_of_all}, {"scan", scan, sum_up_to}};
  MPI_Init(&argc, &argv);
  time_collectives(collectives, 3, agree, mpi_pid(), mpi_nprocs(), argc, argv);
  MPI_Finalize();
  return 0;
}
