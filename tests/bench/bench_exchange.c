/* bench_exchange even|other SECONDS NBYTES...: the total exchange by each of BSPlib's means, NBYTES
 * out of every process; figures put.NBYTES, hpput.NBYTES, and so on. */
#include "agree_bsp.h"
#include "exchange_pattern.h"

/* Each process starts with its right neighbour: a latin square, so that no process is hit by all
 * at once (Questions and answers about BSP, "latin square"). */
static int partner(const Exchange *x, int i) { return (x->pid + 1 + i) % x->nprocs; }

static void by_put(void *context) {
  const Exchange *x = context;
  for (int i = 0; i < x->nprocs; ++i) {
    int to = partner(x, i);
    bsp_put(to, x->out + block_start(x, to), x->in, block_start(x, x->pid),
            block_nbytes(x, x->pid, to));
  }
  bsp_sync();
}

static void by_hpput(void *context) {
  const Exchange *x = context;
  for (int i = 0; i < x->nprocs; ++i) {
    int to = partner(x, i);
    bsp_hpput(to, x->out + block_start(x, to), x->in, block_start(x, x->pid),
              block_nbytes(x, x->pid, to));
  }
  bsp_sync();
}

static void by_get(void *context) {
  const Exchange *x = context;
  for (int i = 0; i < x->nprocs; ++i) {
    int from = partner(x, i);
    bsp_get(from, x->out, block_start(x, x->pid), x->in + block_start(x, from),
            block_nbytes(x, from, x->pid));
  }
  bsp_sync();
}

static void by_hpget(void *context) {
  const Exchange *x = context;
  for (int i = 0; i < x->nprocs; ++i) {
    int from = partner(x, i);
    bsp_hpget(from, x->out, block_start(x, x->pid), x->in + block_start(x, from),
              block_nbytes(x, from, x->pid));
  }
  bsp_sync();
}

/* The tag names the source; the receiver moves each payload to its place. */
static void by_send(void *context) {
  const Exchange *x = context;
  for (int i = 0; i < x->nprocs; ++i) {
    int to = partner(x, i), nbytes = block_nbytes(x, x->pid, to);
    if (nbytes > 0) bsp_send(to, &x->pid, x->out + block_start(x, to), nbytes);
  }
  bsp_sync();
  int nmessages, from, status;
  bsp_qsize(&nmessages, NULL);
  for (int i = 0; i < nmessages; ++i) {
    bsp_get_tag(&status, &from);
    bsp_move(x->in + block_start(x, from), status);
  }
}

static void measure_size(Exchange *x, double budget_s) {
  const struct {
    const char *name;
    Step step;
  } means[] = {{"put", by_put},
               {"hpput", by_hpput},
               {"get", by_get},
               {"hpget", by_hpget},
               {"send", by_send}};
  for (size_t m = 0; m < sizeof means / sizeof *means; ++m) {
    char name[64];
    snprintf(name, sizeof name, "%s.%zu", means[m].name, x->nbytes);
    Timing timing = measure_exchange(x, means[m].step, agree, budget_s);
    if (x->pid == 0) report(name, timing);
  }
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  agree_begin();
  require(argc > 3, "usage: bench_exchange even|other SECONDS NBYTES...");
  Exchange x = {.pid = bsp_pid(), .nprocs = bsp_nprocs()};
  x.to_other_only = strcmp(argv[1], "other") == 0;
  double budget_s = atof(argv[2]);
  size_t nbytes_max = 0;
  for (int i = 3; i < argc; ++i)
    if ((size_t)atol(argv[i]) > nbytes_max) nbytes_max = (size_t)atol(argv[i]);
  x.out = allocate(nbytes_max);
  x.in = allocate(nbytes_max);
  bsp_push_reg(x.out, (int)nbytes_max);
  bsp_push_reg(x.in, (int)nbytes_max);
  int tag_nbytes = sizeof(int);
  bsp_set_tagsize(&tag_nbytes);
  bsp_sync();
  for (int i = 3; i < argc; ++i) {
    x.nbytes = (size_t)atol(argv[i]);
    measure_size(&x, budget_s);
  }
  bsp_end();
  return 0;
}
