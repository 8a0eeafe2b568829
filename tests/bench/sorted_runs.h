/* sorted_runs.h: the communication of sample sort, as bench_sort.c and mpi_sort.c time it: samples
 * to all, then to every process the numbers between two splitters, and these stored one run after
 * the other. Sorting before it and merging after it are left out.
 */
#ifndef TESTS_BENCH_SORTED_RUNS_H_
#define TESTS_BENCH_SORTED_RUNS_H_

#include "measure.h"

enum { kSortersMax = 64 };

typedef struct {
  int pid, nprocs, n; /* n numbers of each process. */
  double *mine;       /* Sorted. */
  double *samples;    /* p of each process. */
  double *got;        /* The runs; room for those that regular sampling can give: 2 n + p. */
  int start[kSortersMax + 1]; /* Where the numbers for each process start in `mine`. */
} Sorter;

static inline Sorter make_sorter(int pid, int nprocs, int n) {
  Sorter s = {.pid = pid, .nprocs = nprocs, .n = n};
  require(nprocs <= kSortersMax && n >= nprocs, "usage: SECONDS N..., N at least p, p at most 64");
  s.mine = allocate((size_t)n * sizeof(double));
  s.samples = allocate((size_t)(nprocs * nprocs) * sizeof(double));
  s.got = allocate((size_t)(2 * n + nprocs) * sizeof(double));
  for (int i = 0; i < n; ++i)
    s.mine[i] = (double)(scramble((uint64_t)pid * (uint64_t)n + (uint64_t)i) >> 11);
  qsort(s.mine, (size_t)n, sizeof(double), ascending);
  return s;
}

static inline double sample(const Sorter *s, int i) {
  return s->mine[(size_t)i * (size_t)s->n / (size_t)s->nprocs];
}

/* From all samples, which are the same everywhere: `start`. */
static inline void split(Sorter *s) {
  const int p = s->nprocs;
  qsort(s->samples, (size_t)(p * p), sizeof(double), ascending);
  s->start[0] = 0;
  s->start[p] = s->n;
  for (int q = 1; q < p; ++q) {
    int low = s->start[q - 1], high = s->n;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (s->mine[middle] < s->samples[q * p])
        low = middle + 1;
      else
        high = middle;
    }
    s->start[q] = low;
  }
}

static inline int run_nbytes(const Sorter *s, int q) {
  return (s->start[q + 1] - s->start[q]) * (int)sizeof(double);
}

/* What came is what lies between this process's splitters, of all processes. */
static inline void check_runs(const Sorter *s) {
  const int p = s->nprocs;
  const double *splitters = s->samples;
  double sum = 0, expected = 0;
  int count = 0;
  for (int from = 0; from < p; ++from)
    for (int i = 0; i < s->n; ++i) {
      const double x = (double)(scramble((uint64_t)from * (uint64_t)s->n + (uint64_t)i) >> 11);
      if (s->pid > 0 && x < splitters[s->pid * p]) continue;
      if (s->pid + 1 < p && x >= splitters[(s->pid + 1) * p]) continue;
      expected += x / s->n;
      ++count;
    }
  for (int i = 0; i < count; ++i) sum += s->got[i] / s->n;
  require(sum > expected * (1 - 1e-9) && sum < expected * (1 + 1e-9), "sample sort");
}

/* Reports sort.N for each N. */
static inline void time_sorts(Step exchange_runs, Agree agree, int pid, int nprocs, int argc,
                              char **argv, void (*begin)(Sorter *), void (*end)(Sorter *)) {
  for (int i = 2; i < argc; ++i) {
    Sorter s = make_sorter(pid, nprocs, atoi(argv[i]));
    char name[64];
    begin(&s);
    memset(s.got, 0, (size_t)(2 * s.n + nprocs) * sizeof(double));
    exchange_runs(&s);
    check_runs(&s);
    const Timing timing = measure(exchange_runs, &s, agree, atof(argv[1]), 2e-4);
    check_runs(&s);
    end(&s);
    snprintf(name, sizeof name, "sort.%d", s.n);
    if (pid == 0) report(name, timing);
    free(s.mine);
    free(s.samples);
    free(s.got);
  }
}

#endif /* TESTS_BENCH_SORTED_RUNS_H_ */
