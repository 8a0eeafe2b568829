// large MEBIBYTES: so much memory, of which one page in ten changes in each superstep. Prints how
// long its supersteps took, the barrier included, for //tests/images:measure.
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  const size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20;
  unsigned long *memory = malloc(bytes);
  for (size_t i = 0; i < bytes / sizeof *memory; ++i) memory[i] = i * 0x9e3779b97f4a7c15u;
  double before = bsp_time();
  for (int step = 0; step < 6; ++step) {
    for (size_t i = (size_t)step * 512; i < bytes / sizeof *memory; i += 5120) memory[i] ^= 1;
    bsp_sync();
    const double now = bsp_time();
    fprintf(stderr, "superstep %d: %.1f ms\n", step, (now - before) * 1e3);
    before = now;
  }
  unsigned long sum = 0;
  for (size_t i = 0; i < bytes / sizeof *memory; ++i) sum = sum * 31 + memory[i];
  printf("%lx\n", sum);
  bsp_end();
  return 0;
}
