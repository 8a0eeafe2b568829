// OpenMP between barriers: its threads are given back for the image, and come again.
#include <bsp.h>
#include <omp.h>
#include <stdio.h>

enum { N = 1 << 20 };
static double field[N];

int main(void) {
  bsp_begin(bsp_nprocs());
  omp_set_num_threads(4);
  for (int step = 0; step < 4; ++step) {
    int threads = 0;
#pragma omp parallel for reduction(max : threads)
    for (int i = 0; i < N; ++i) {
      field[i] = field[i] * 0.5 + i % 1000 + step;
      threads = omp_get_num_threads();
    }
    double sum = 0;
    for (int i = 0; i < N; ++i) sum += field[i];
    printf("%d: %.6f by %d\n", step, sum, threads);
    bsp_sync();
  }
  bsp_end();
  return 0;
}
