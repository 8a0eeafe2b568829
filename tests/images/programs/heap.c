// A million small blocks, large ones that come and go, and a heap that grows and shrinks.
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 1000000, STEPS = 4 };

static unsigned seed = 12345;
static unsigned random_number(void) { return seed = seed * 1664525u + 1013904223u; }

static unsigned long check(unsigned char **blocks, const unsigned short *sizes) {
  unsigned long sum = 0;
  for (int i = 0; i < BLOCKS; ++i)
    if (blocks[i]) sum = sum * 31 + blocks[i][0] + blocks[i][sizes[i] - 1];
  return sum;
}

int main(void) {
  bsp_begin(bsp_nprocs());
  unsigned char **blocks = calloc(BLOCKS, sizeof *blocks);
  unsigned short *sizes = calloc(BLOCKS, sizeof *sizes);
  for (int step = 0; step < STEPS; ++step) {
    const int changes = step == 0 ? BLOCKS : BLOCKS / 10;
    for (int k = 0; k < changes; ++k) {
      const int i = step == 0 ? k : (int)(random_number() % BLOCKS);
      free(blocks[i]);
      sizes[i] = (unsigned short)(1 + random_number() % (k % 1000 == 0 ? 60000 : 60));
      blocks[i] = malloc(sizes[i]);
      memset(blocks[i], step * 7 + k, sizes[i]);
    }
    // Above malloc's threshold for mmap; every other one stays zero.
    char *large = calloc(1, 8 << 20);
    if (step % 2) large[1234567] = 1;
    bsp_sync();
    unsigned long zeros = 0;
    for (size_t i = 0; i < 8 << 20; ++i) zeros += large[i] == 0;
    free(large);
    printf("%d: %lu, %lu zero\n", step, check(blocks, sizes), zeros);
  }
  for (int i = 0; i < BLOCKS; ++i) free(blocks[i]);
  free(blocks);
  free(sizes);
  bsp_end();
  return 0;
}
