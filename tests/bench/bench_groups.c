/* bench_groups SAMPLES STEPS: what ends of PUB's supersteps take, in seconds on process 0: `sync`
 * and `oblsync` without a message, `sync.ring` and `oblsync.ring` with 8 bytes from each process to
 * the next, `sync.pair` and `oblsync.pair` with 8 bytes from process 0 to process 1; `half.one`,
 * the barrier of the first half of the processes, and `half.both`, that barrier while the other
 * half passes its own; `group`, to make two halves and leave them. Medians of SAMPLES, which take
 * turns, of STEPS each. p is even. */
#include <pub.h>

#include "measure.h"

static t_bsp all, half;
static int p, me;

static void sync(void) { bsp_sync(&all); }
static void oblsync(void) { bsp_oblsync(&all, 0); }

static void to_next(void) {
  double word = me;
  bsp_send(&all, (me + 1) % p, &word, sizeof word);
}
static void sync_ring(void) {
  to_next();
  bsp_sync(&all);
}
static void oblsync_ring(void) {
  to_next();
  bsp_oblsync(&all, 1);
}

static void to_one(void) {
  double word = me;
  if (me == 0) bsp_send(&all, 1, &word, sizeof word);
}
static void sync_pair(void) {
  to_one();
  bsp_sync(&all);
}
static void oblsync_pair(void) {
  to_one();
  bsp_oblsync(&all, me == 1);
}

static void half_one(void) {
  if (me < p / 2) bsp_sync(&half);
}
static void half_both(void) { bsp_sync(&half); }

static void make_halves(t_bsp *made) {
  int part[2];
  part[0] = p / 2;
  part[1] = p;
  bsp_partition(&all, made, 2, part);
}
static void group(void) {
  t_bsp made;
  make_halves(&made);
  bsp_done(&made);
}

static const struct {
  const char *name;
  void (*step)(void);
} kKinds[] = {{"sync", sync},           {"oblsync", oblsync},
              {"sync.ring", sync_ring}, {"oblsync.ring", oblsync_ring},
              {"sync.pair", sync_pair}, {"oblsync.pair", oblsync_pair},
              {"half.one", half_one},   {"half.both", half_both},
              {"group", group}};
enum { kKindCount = sizeof kKinds / sizeof kKinds[0] };

/* All begin together, and end together. */
static double sample(int kind, long steps) {
  bsp_sync(&all);
  const double start_s = now_s();
  for (long i = 0; i < steps; ++i) kKinds[kind].step();
  const double took_s = now_s() - start_s;
  require(kind != 3 || bsp_nmsgs(&all) == 1, "bsp_oblsync returned without its message");
  bsp_sync(&all);
  return took_s / (double)steps;
}

int main(int argc, char **argv) {
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &all);
  p = bsp_nprocs(&all);
  me = bsp_pid(&all);
  const long samples = argc > 2 ? atol(argv[1]) : 0, steps = argc > 2 ? atol(argv[2]) : 0;
  require(p % 2 == 0 && samples > 0 && steps > 0, "usage: bench_groups SAMPLES STEPS, p even");
  double *times = allocate((size_t)(kKindCount * samples) * sizeof *times);
  make_halves(&half);
  for (long i = -1; i < samples; ++i) { /* The first is a warm-up. */
    for (int kind = 0; kind < kKindCount; ++kind) {
      const double took_s = sample(kind, steps);
      if (i >= 0) times[kind * samples + i] = took_s;
    }
  }
  for (int kind = 0; kind < kKindCount && me == 0; ++kind)
    figure(kKinds[kind].name, quantile(times + kind * samples, samples, 0.5));
  bsp_done(&half);
  bsplib_done();
  return 0;
}
