/* measure.h: how every program of the bench takes a time, checks a result and reports a figure.
 *
 * The programs for bspnow, for MPI and for the bare machine share this file, so a figure means the
 * same in all of them. A program prints lines "figure NAME VALUE" (seconds) on one process; all
 * else about tables, units and targets is the driver's.
 */
#ifndef TESTS_BENCH_MEASURE_H_
#define TESTS_BENCH_MEASURE_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CLOCK_MONOTONIC has one origin for all processes of a machine: their readings may be compared. */
static inline double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A wrong answer ends the job with a status that the driver takes for a failed bench. */
static inline void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "wrong result: %s\n", what);
  exit(1);
}

static inline void *allocate(size_t nbytes) {
  /* Page-aligned and touched: the first touch of a page costs far more than a copy into it. */
  size_t whole_pages = (nbytes + 4095) / 4096 * 4096 + 4096;
  void *memory = aligned_alloc(4096, whole_pages);
  require(memory != NULL, "no memory for the arrays");
  memset(memory, 1, whole_pages);
  return memory;
}

/* SplitMix64 as a function of a key: any process can compute the n-th value of any other. */
static inline uint64_t scramble(uint64_t key) {
  uint64_t z = key * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The smallest sample that at least the fraction q of all samples does not exceed. */
static inline double quantile(double *samples, long nsamples, double q) {
  qsort(samples, (size_t)nsamples, sizeof *samples, ascending);
  long i = (long)(q * (double)nsamples + 0.999999) - 1;
  return samples[i < 0 ? 0 : i];
}

static inline void figure(const char *name, double seconds) {
  printf("figure %s %.9g\n", name, seconds);
  fflush(stdout);
}

/* What is measured: one superstep, or what stands for it. Collective. */
typedef void (*Step)(void *context);
/* Gives all processes the value that process 0 passes. Collective; a barrier. */
typedef long (*Agree)(long value);

typedef struct {
  double cold_s;   /* The first step, buffers not yet there. */
  double median_s; /* Per step, over samples of several steps each. */
  double p99_s;
  long nsteps; /* How many steps there were in all. */
} Timing;

enum { kWarmSteps = 4, kSamplesMin = 5, kSamplesMax = 5000, kStepsOfShort = 8 };
static const double kShortStep_s = 4e-3;

/* In a sample. Over a network a process may have what it waits for as soon as it comes to its next
 * step, and wait twice as long in the one after it: so one step alone says nothing. */
static inline long steps_in_sample(double once_s, double sample_s) {
  long nsteps = (long)(sample_s / once_s), least = once_s < kShortStep_s ? kStepsOfShort : 1;
  return nsteps < least ? least : nsteps;
}

/* Times `step` for about `budget_s` seconds after a warm-up. A sample is the mean of as many steps
 * as take about `sample_s`, or of a few; process 0 decides how many for all. */
static inline Timing measure(Step step, void *context, Agree agree, double budget_s,
                             double sample_s) {
  Timing timing;
  double once_s = 0;
  agree(0);
  for (int i = 0; i < kWarmSteps; ++i) { /* Steps 0 and 1 meet new buffers, one per parity. */
    double start_s = now_s();
    step(context);
    once_s = now_s() - start_s;
    if (i == 0) timing.cold_s = once_s;
  }
  long nsteps = agree(steps_in_sample(once_s, sample_s));
  timing.nsteps = kWarmSteps + nsteps;
  double start_s = now_s();
  for (long i = 0; i < nsteps; ++i)
    step(context); /* Many steps: how long one lasts varies too much. */
  once_s = (now_s() - start_s) / (double)nsteps;
  nsteps = agree(steps_in_sample(once_s, sample_s));
  long nsamples = (long)(budget_s / (once_s * (double)nsteps));
  if (nsamples < kSamplesMin) nsamples = kSamplesMin;
  if (nsamples > kSamplesMax) nsamples = kSamplesMax;
  nsamples = agree(nsamples);
  timing.nsteps += nsamples * nsteps;

  double *samples = (double *)allocate((size_t)nsamples * sizeof(double));
  for (long s = 0; s < nsamples; ++s) {
    start_s = now_s();
    for (long i = 0; i < nsteps; ++i) step(context);
    samples[s] = (now_s() - start_s) / (double)nsteps;
  }
  timing.median_s = quantile(samples, nsamples, 0.5);
  timing.p99_s = quantile(samples, nsamples, 0.99);
  free(samples);
  return timing;
}

/* For a program that computes between its supersteps: all processes keep a processor busy. */
static inline void compute_for(double s) {
  for (double until_s = now_s() + s; now_s() < until_s;) continue;
}

/* What the steps took beside what they computed. */
static inline Timing beside(double computed_s, Timing timing) {
  timing.cold_s -= computed_s;
  timing.median_s -= computed_s;
  timing.p99_s -= computed_s;
  return timing;
}

/* One figure per part of the timing: NAME, NAME.p99, NAME.cold. */
static inline void report(const char *name, Timing timing) {
  char part[96];
  figure(name, timing.median_s);
  snprintf(part, sizeof part, "%s.p99", name);
  figure(part, timing.p99_s);
  snprintf(part, sizeof part, "%s.cold", name);
  figure(part, timing.cold_s);
}

#endif /* TESTS_BENCH_MEASURE_H_ */
