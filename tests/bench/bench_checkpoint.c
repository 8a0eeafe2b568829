/* bench_checkpoint MIB PERCENT: a process of MIB megabytes, none of them zero, that changes PERCENT
 * of its pages now and then, and otherwise only synchronises, until it is cancelled. The service
 * itself measures what checkpoints cost; `bsp show --json` prints it. */
#include <bsp.h>
#include <stdint.h>
#include <stdlib.h>

enum { kPageBytes = 4096, kWords = kPageBytes / sizeof(uint64_t), kQuietSupersteps = 200 };

static uint64_t draw(uint64_t *chance) {
  uint64_t z = *chance += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return z ^ (z >> 27);
}

/* Changes that many of a hundred pages, the same ones each time. */
static void change(uint64_t *words, long npages, int percent) {
  for (long page = 0; page < npages; page++) {
    if (page * 7919 % 100 < percent) words[page * kWords] += 1;
  }
}

static double wait_s(double seconds) {
  double until = bsp_time() + seconds;
  while (bsp_time() < until) {
  }
  return until;
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  long npages = (argc > 1 ? atol(argv[1]) : 64) * (1 << 20) / kPageBytes;
  int percent = argc > 2 ? atoi(argv[2]) : 10;
  uint64_t chance = (uint64_t)bsp_pid(), *words = malloc((size_t)npages * kPageBytes);
  if (words == NULL) bsp_abort("no memory\n");
  for (long i = 0; i < npages * (long)kWords; i++) words[i] = draw(&chance) | 1;
  printf("filled\n");
  fflush(stdout);
  for (long superstep = 0;; superstep++) {
    if (superstep % kQuietSupersteps == 0) change(words, npages, percent);
    wait_s(0.002);
    bsp_sync();
  }
}
