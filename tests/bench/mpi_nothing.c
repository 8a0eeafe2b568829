/* mpi_nothing: the shortest MPI program, for the time that starting and ending one takes. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
