/* bench_sort SECONDS N...: the communication of sample sort of N numbers a process, as
 * examples/sort_numbers.cc does it: samples by put, runs by send; figures sort.N. */
#include "agree_bsp.h"
#include "sorted_runs.h"

static void exchange_runs(void *context) {
  Sorter *s = context;
  const int p = s->nprocs;
  double chosen[kSortersMax];
  for (int i = 0; i < p; ++i) chosen[i] = sample(s, i);
  for (int q = 0; q < p; ++q)
    bsp_put(q, chosen, s->samples, s->pid * p * (int)sizeof(double), p * (int)sizeof(double));
  bsp_sync();
  split(s);
  for (int q = 0; q < p; ++q) bsp_send(q, NULL, s->mine + s->start[q], run_nbytes(s, q));
  bsp_sync();
  int nmessages, nbytes;
  bsp_qsize(&nmessages, NULL);
  double *end = s->got;
  for (int i = 0; i < nmessages; ++i) {
    bsp_get_tag(&nbytes, NULL);
    bsp_move(end, nbytes);
    end += nbytes / (int)sizeof(double);
  }
}

static void begin(Sorter *s) {
  bsp_push_reg(s->samples, s->nprocs * s->nprocs * (int)sizeof(double));
  bsp_sync();
}

static void end(Sorter *s) {
  bsp_pop_reg(s->samples);
  bsp_sync();
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  agree_begin();
  time_sorts(exchange_runs, agree, bsp_pid(), bsp_nprocs(), argc, argv, begin, end);
  bsp_end();
  return 0;
}
