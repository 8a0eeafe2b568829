/* limit P barrier SECONDS
 * limit P memcpy SECONDS NBYTES...
 * limit P stores SECONDS N
 * What the machine itself allows to P processes that share memory and nothing else: a barrier of
 * one counter that waits with sched_yield; memcpy of NBYTES in each process at once; N random
 * stores of 8 bytes in each process's own memory. Figures sync, copy.NBYTES, store. */
#define _GNU_SOURCE /* MAP_ANONYMOUS under -std=c11 */
#include "limit_processes.h"

typedef struct {
  char *from, *to;
  size_t nbytes;
} Copy;

static void copy(void *context) {
  const Copy *c = context;
  memcpy(c->to, c->from, c->nbytes);
  __asm__ volatile("" : : "r"(c->to) : "memory"); /* Keeps the copy, which nothing reads. */
}

static void measure_copies(double budget_s, int nsizes, char **sizes) {
  for (int i = 0; i < nsizes; ++i) {
    char name[64];
    Copy c = {.nbytes = (size_t)atol(sizes[i])};
    c.from = allocate(c.nbytes);
    c.to = allocate(c.nbytes);
    Timing timing = measure(copy, &c, agree, budget_s, 2e-4);
    snprintf(name, sizeof name, "copy.%zu", c.nbytes);
    if (pid == 0) report(name, timing);
    free(c.from);
    free(c.to);
  }
}

typedef struct {
  int n, *index;
  double *value, *array;
} Stores;

static void store(void *context) {
  const Stores *s = context;
  for (int i = 0; i < s->n; ++i) s->array[s->index[i]] = s->value[i];
  __asm__ volatile("" : : "r"(s->array) : "memory");
}

static void measure_stores(double budget_s, int n) {
  Stores s = {.n = n};
  s.index = allocate((size_t)n * sizeof(int));
  s.value = allocate((size_t)n * sizeof(double));
  s.array = allocate((size_t)n * sizeof(double));
  for (int i = 0; i < n; ++i) s.index[i] = (int)(scramble((uint64_t)i) % (uint64_t)n);
  Timing timing = measure(store, &s, agree, budget_s, 0);
  if (pid == 0) report("store", timing);
}

static void run_limit(int argc, char **argv) {
  double budget_s = atof(argv[3]);
  if (strcmp(argv[2], "barrier") == 0) {
    Timing timing = measure(barrier, NULL, agree, budget_s, 1e-3);
    if (pid == 0) report("sync", timing);
  } else if (strcmp(argv[2], "memcpy") == 0) {
    measure_copies(budget_s, argc - 4, argv + 4);
  } else {
    require(strcmp(argv[2], "stores") == 0 && argc == 5, "usage: limit P stores SECONDS N");
    measure_stores(budget_s, atoi(argv[4]));
  }
}

int main(int argc, char **argv) {
  require(argc >= 4, "usage: limit P barrier|memcpy|stores SECONDS ...");
  share_memory();
  start_processes(atoi(argv[1]));
  run_limit(argc, argv);
  return end_processes();
}
