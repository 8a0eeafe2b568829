/* exchange_pattern.h: which bytes each process sends to each in the total exchange, for BSP and for
 * MPI. A process sends nbytes in all: the same to every process, itself included, or ("other", two
 * processes) everything to the other one. */
#ifndef TESTS_BENCH_EXCHANGE_PATTERN_H_
#define TESTS_BENCH_EXCHANGE_PATTERN_H_

#include "measure.h"

typedef struct {
  int pid, nprocs;
  int to_other_only;
  size_t nbytes;  /* That this process sends in all. */
  char *out, *in; /* Room for nbytes each; the block for (from) process q is number q. */
} Exchange;

/* Bytes from any process a to any process b. */
static inline int block_nbytes(const Exchange *x, int a, int b) {
  if (x->to_other_only) return a == b ? 0 : (int)x->nbytes;
  return (int)(x->nbytes / (size_t)x->nprocs);
}

/* Where the block that a and b exchange starts in a's arrays. */
static inline int block_start(const Exchange *x, int b) {
  if (x->to_other_only) return 0;
  return b * (int)(x->nbytes / (size_t)x->nprocs);
}

static inline uint64_t word_at(int from, int to, size_t i, long salt) {
  return ((uint64_t)salt << 48) ^ ((uint64_t)from << 40) ^ ((uint64_t)to << 32) ^ i;
}

static inline void fill_blocks(const Exchange *x, long salt) {
  memset(x->in, 0xee, x->nbytes);
  for (int to = 0; to < x->nprocs; ++to) {
    uint64_t *words = (uint64_t *)(x->out + block_start(x, to));
    for (size_t i = 0; i < (size_t)block_nbytes(x, x->pid, to) / 8; ++i)
      words[i] = word_at(x->pid, to, i, salt);
  }
}

static inline void check_blocks(const Exchange *x, long salt) {
  for (int from = 0; from < x->nprocs; ++from) {
    const uint64_t *words = (const uint64_t *)(x->in + block_start(x, from));
    for (size_t i = 0; i < (size_t)block_nbytes(x, from, x->pid) / 8; ++i)
      require(words[i] == word_at(from, x->pid, i, salt), "total exchange");
  }
}

/* Measures one way of exchanging one size; the result is checked before and after. */
static inline Timing measure_exchange(Exchange *x, Step step, Agree agree, double budget_s) {
  static long salt;
  fill_blocks(x, ++salt);
  agree(0);
  step(x);
  check_blocks(x, salt);
  Timing timing = measure(step, x, agree, budget_s, 2e-4);
  agree(0); /* No process may still read the blocks that are written now. */
  fill_blocks(x, ++salt);
  agree(0);
  step(x);
  check_blocks(x, salt);
  agree(0);
  return timing;
}

#endif /* TESTS_BENCH_EXCHANGE_PATTERN_H_ */
