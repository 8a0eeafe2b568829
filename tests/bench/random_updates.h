/* random_updates.h: the updates a[index] = value on random processes, for BSP and for MPI, and the
 * result that they must have. Everything is a function of (pid, number, salt), so each process can
 * compute what all others did to it. */
#ifndef TESTS_BENCH_RANDOM_UPDATES_H_
#define TESTS_BENCH_RANDOM_UPDATES_H_

#include "measure.h"

typedef struct {
  int pid, nprocs;
  int n;         /* Updates of each process, and elements of each process's array. */
  int *to;       /* Update i goes to process to[i] (random, own included), */
  int *index;    /* element index[i] (random), */
  double *value; /* and stores value[i]. */
  double *array; /* What the others update, or get from. */
  double *got;   /* By get: element index[i] of process to[i]. */
} Updates;

static inline int target_of(int pid, int i, int nprocs) {
  uint64_t bits = scramble(((uint64_t)pid << 32) ^ (uint64_t)i) >> 32;
  return (int)((bits * (uint64_t)nprocs) >> 32);
}

static inline int index_of(int pid, int i, int n) {
  uint64_t bits = scramble(((uint64_t)pid << 32) ^ (uint64_t)i) & 0xffffffffu;
  return (int)((bits * (uint64_t)n) >> 32);
}

static inline double value_of(int pid, int i, int salt) { return 1e9 * salt + 1e8 * pid + i; }

static inline Updates make_updates(int pid, int nprocs, int n) {
  size_t doubles = (size_t)n * sizeof(double), ints = (size_t)n * sizeof(int);
  Updates u;
  u.pid = pid;
  u.nprocs = nprocs;
  u.n = n;
  u.to = (int *)allocate(ints);
  u.index = (int *)allocate(ints);
  u.value = (double *)allocate(doubles);
  u.array = (double *)allocate(doubles);
  u.got = (double *)allocate(doubles);
  for (int i = 0; i < n; ++i) {
    u.to[i] = target_of(pid, i, nprocs);
    u.index[i] = index_of(pid, i, n);
  }
  return u;
}

/* New values to store, new elements to get. */
static inline void refresh(Updates *u, int salt) {
  for (int i = 0; i < u->n; ++i) {
    u->value[i] = value_of(u->pid, i, salt);
    u->array[i] = -value_of(u->pid, i, salt);
    u->got[i] = 0;
  }
}

/* Where several updates meet, the last by (pid, number) stays: bspnow promises that order, and the
 * hand-written MPI program has it too. */
static inline void check_stored(const Updates *u, int salt) {
  double *expected = (double *)allocate((size_t)u->n * sizeof(double));
  for (int i = 0; i < u->n; ++i) expected[i] = -value_of(u->pid, i, salt);
  for (int pid = 0; pid < u->nprocs; ++pid)
    for (int i = 0; i < u->n; ++i)
      if (target_of(pid, i, u->nprocs) == u->pid)
        expected[index_of(pid, i, u->n)] = value_of(pid, i, salt);
  require(memcmp(expected, u->array, (size_t)u->n * sizeof(double)) == 0, "random updates");
  free(expected);
}

static inline void check_got(const Updates *u, int salt) {
  for (int i = 0; i < u->n; ++i)
    require(u->got[i] == -value_of(u->to[i], u->index[i], salt), "random gets");
}

/* Measures one way of doing the updates, with its result checked before and after. */
static inline Timing measure_updates(Updates *u, Step step, void (*check)(const Updates *, int),
                                     Agree agree, double budget_s) {
  static int salt;
  refresh(u, ++salt);
  Timing timing = measure(step, u, agree, budget_s, 0);
  check(u, salt);
  agree(0);
  refresh(u, ++salt);
  agree(0);
  step(u);
  check(u, salt);
  agree(0);
  return timing;
}

#endif /* TESTS_BENCH_RANDOM_UPDATES_H_ */
