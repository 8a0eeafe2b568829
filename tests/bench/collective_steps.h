/* collective_steps.h: a broadcast, a sum on all processes and a sum of prefixes, of vectors of
 * doubles, as bench_collectives.c and mpi_collectives.c time them.
 */
#ifndef TESTS_BENCH_COLLECTIVE_STEPS_H_
#define TESTS_BENCH_COLLECTIVE_STEPS_H_

#include "measure.h"

typedef struct {
  double *src, *dst;
  int nbytes;
} Vectors;

typedef struct {
  const char *name;
  Step step;
  /* What process `pid` of `nprocs` gets where each process has its pid + 1. */
  double (*expected)(int pid, int nprocs);
} Collective;

static inline double first_value(int pid, int nprocs) {
  (void)pid;
  (void)nprocs;
  return 1;
}
static inline double sum_of_all(int pid, int nprocs) {
  (void)pid;
  return nprocs * (nprocs + 1) / 2.0;
}
static inline double sum_up_to(int pid, int nprocs) {
  (void)nprocs;
  return (pid + 1) * (pid + 2) / 2.0;
}

static inline void check_collective(const Collective *collective, Vectors *vectors, int pid,
                                    int nprocs) {
  const int length = vectors->nbytes / (int)sizeof(double);
  memset(vectors->dst, 0, (size_t)vectors->nbytes);
  collective->step(vectors);
  for (int i = 0; i < length; ++i)
    require(vectors->dst[i] == collective->expected(pid, nprocs), collective->name);
}

/* Reports NAME.NBYTES for each of the collectives and sizes. */
static inline void time_collectives(const Collective *collectives, int ncollectives, Agree agree,
                                    int pid, int nprocs, int argc, char **argv) {
  require(argc >= 3, "usage: SECONDS NBYTES...");
  for (int s = 2; s < argc; ++s) {
    Vectors vectors = {.nbytes = atoi(argv[s])};
    char name[64];
    vectors.src = allocate((size_t)vectors.nbytes);
    vectors.dst = allocate((size_t)vectors.nbytes);
    for (int i = 0; i < vectors.nbytes / (int)sizeof(double); ++i) vectors.src[i] = pid + 1;
    for (int c = 0; c < ncollectives; ++c) {
      check_collective(&collectives[c], &vectors, pid, nprocs);
      const Timing timing = measure(collectives[c].step, &vectors, agree, atof(argv[1]), 2e-4);
      check_collective(&collectives[c], &vectors, pid, nprocs);
      snprintf(name, sizeof name, "%s.%d", collectives[c].name, vectors.nbytes);
      if (pid == 0) report(name, timing);
    }
    free(vectors.src);
    free(vectors.dst);
  }
}

#endif /* TESTS_BENCH_COLLECTIVE_STEPS_H_ */
