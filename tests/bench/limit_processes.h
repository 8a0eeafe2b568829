/* limit_processes.h: P processes that share one page of memory and nothing else, for the programs
 * that measure what the machine itself allows: a barrier of one counter, and Agree (measure.h). */
#ifndef TESTS_BENCH_LIMIT_PROCESSES_H_
#define TESTS_BENCH_LIMIT_PROCESSES_H_

#include "measure.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The counters on cache lines of their own. */
typedef struct {
  _Alignas(128) atomic_int arrived;
  _Alignas(128) atomic_int superstep;
  _Alignas(128) long agreed;
} Shared;

static Shared *shared;
static int pid, nprocs;

static void barrier(void *context) {
  (void)context;
  int superstep = atomic_load_explicit(&shared->superstep, memory_order_relaxed);
  if (atomic_fetch_add(&shared->arrived, 1) == nprocs - 1) {
    atomic_store_explicit(&shared->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->superstep, superstep + 1, memory_order_release);
    return;
  }
  while (atomic_load_explicit(&shared->superstep, memory_order_acquire) == superstep) sched_yield();
}

static long agree(long value) {
  if (pid == 0) shared->agreed = value;
  barrier(NULL);
  value = shared->agreed;
  barrier(NULL);
  return value;
}

static void share_memory(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "mmap");
}

/* Forks processes 1 to p-1, which end with process 0. */
static void start_processes(int p) {
  nprocs = p;
  for (int child = 1; child < p; ++child) {
    pid_t forked = fork();
    require(forked >= 0, "fork");
    if (forked > 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid = child;
    break;
  }
}

/* Process 0 waits for the others. The status for main: 0 if all is well. */
static int end_processes(void) {
  int status, all_well = 1;
  while (pid == 0 && wait(&status) > 0)
    if (status != 0) all_well = 0;
  return all_well ? 0 : 1;
}

#endif /* TESTS_BENCH_LIMIT_PROCESSES_H_ */
