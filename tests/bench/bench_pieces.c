/* bench_pieces SECONDS NBYTES COUNT: COUNT transfers of NBYTES from every process, in turn to all
 * others, each to a place of its own; figures put and hpput. So buffers that are given back late
 * show, where one large transfer would hide them. */
#include "agree_bsp.h"
#include "measure.h"

typedef struct {
  int pid, nprocs, nbytes, count;
  char *out, *in; /* Transfer i leaves from out + i * nbytes, and arrives at in + i * nbytes. */
} Pieces;

static int receiver(const Pieces *x, int i) {
  return (x->pid + 1 + i % (x->nprocs - 1)) % x->nprocs;
}

/* Who sent what lies at piece i: each process gets one transfer of that number. */
static int sender(const Pieces *x, int i) {
  return (x->pid + x->nprocs - 1 - i % (x->nprocs - 1)) % x->nprocs;
}

static void by_put(void *context) {
  const Pieces *x = context;
  for (int i = 0; i < x->count; ++i)
    bsp_put(receiver(x, i), x->out + (size_t)i * x->nbytes, x->in, i * x->nbytes, x->nbytes);
  bsp_sync();
}

static void by_hpput(void *context) {
  const Pieces *x = context;
  for (int i = 0; i < x->count; ++i)
    bsp_hpput(receiver(x, i), x->out + (size_t)i * x->nbytes, x->in, i * x->nbytes, x->nbytes);
  bsp_sync();
}

static uint64_t word(int pid, size_t i, long salt) {
  return (uint64_t)salt << 48 ^ (uint64_t)pid << 40 ^ i;
}

/* One superstep whose result is checked. */
static void check(const Pieces *x, Step step, long salt) {
  const size_t nwords = (size_t)x->nbytes / 8;
  uint64_t *out = (uint64_t *)x->out;
  for (size_t i = 0; i < nwords * (size_t)x->count; ++i) out[i] = word(x->pid, i, salt);
  memset(x->in, 0xee, (size_t)x->nbytes * (size_t)x->count);
  agree(0);
  step((void *)x);
  for (int i = 0; i < x->count; ++i) {
    const size_t first = (size_t)i * nwords;
    for (size_t k = first; k < first + nwords; ++k)
      require(((uint64_t *)x->in)[k] == word(sender(x, i), k, salt), "pieces");
  }
  agree(0);
}

static void measure_pieces(const Pieces *x, const char *name, Step step, double budget_s) {
  static long salt;
  check(x, step, ++salt);
  Timing timing = measure(step, (void *)x, agree, budget_s, 2e-4);
  check(x, step, ++salt);
  if (x->pid == 0) report(name, timing);
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  agree_begin();
  require(argc == 4 && bsp_nprocs() > 1, "usage: bench_pieces SECONDS NBYTES COUNT, p > 1");
  Pieces x = {.pid = bsp_pid(),
              .nprocs = bsp_nprocs(),
              .nbytes = atoi(argv[2]) / 8 * 8,
              .count = atoi(argv[3])};
  const size_t nbytes = (size_t)x.nbytes * (size_t)x.count;
  x.out = allocate(nbytes);
  x.in = allocate(nbytes);
  bsp_push_reg(x.in, (int)nbytes);
  bsp_sync();
  measure_pieces(&x, "put", by_put, atof(argv[1]));
  measure_pieces(&x, "hpput", by_hpput, atof(argv[1]));
  bsp_end();
  return 0;
}
