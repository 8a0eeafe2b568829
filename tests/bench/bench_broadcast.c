/* bench_broadcast SAMPLES NBYTES...: PUB's Figure 5, a broadcast of NBYTES from process 0 by
 * bsp_gsend (`gsend`), beside what a user can make of bsp_hpsend and bsp_sync: a tree in which each
 * process serves WAYS - 1 others at a time (`tree.WAYS`; the widest is process 0 sending to all), a
 * binary tree through which the vector goes in PIECES (`ptree.PIECES`), scatter and gather
 * (`scaga`). Seconds on process 0 from the call until the vector lies in an array of all. Medians;
 * all take turns. */
#include <pub.h>

#include "measure.h"

static t_bsp all;
static int p, me, nbytes;
static char *vector;

/* The only message of the last superstep, if there is one. */
static void take(char *to) {
  if (bsp_nmsgs(&all) == 0) return;
  t_bspmsg *const message = bsp_getmsg(&all, 0);
  memcpy(to, bspmsg_data(message), (size_t)bspmsg_size(message));
}

static void gsend(int unused) {
  (void)unused;
  if (me == 0 && p > 1) bsp_gsend(&all, 1, p - 1, vector, nbytes);
  bsp_sync(&all);
  take(vector);
}

/* Process i gets the vector in the first superstep that reaches it; then it serves others, too. */
static void tree(int ways) {
  for (int reached = 1; reached < p; reached *= ways) {
    if (me < reached) {
      for (int way = 1; way < ways; ++way) {
        const int to = way * reached + me;
        if (to < p) bsp_hpsend(&all, to, vector, nbytes);
      }
    }
    bsp_sync(&all);
    if (me >= reached) take(vector);
  }
}

static int begin_of(int part, int parts) { return (int)((long)nbytes * part / parts); }

static void ptree(int pieces) {
  int depth = 0, last_depth = 0; /* Of this process, and of the last one. */
  for (int i = me + 1; i > 1; i /= 2) ++depth;
  for (int i = p; i > 1; i /= 2) ++last_depth;
  for (int step = 0; step < last_depth + pieces - 1; ++step) {
    const int mine = step - depth; /* The piece that came in the step before. */
    if (mine >= 0 && mine < pieces) {
      const int begin = begin_of(mine, pieces);
      for (int to = 2 * me + 1; to <= 2 * me + 2 && to < p; ++to)
        bsp_hpsend(&all, to, vector + begin, begin_of(mine + 1, pieces) - begin);
    }
    bsp_sync(&all);
    const int came = step + 1 - depth;
    if (me != 0 && came >= 0 && came < pieces) take(vector + begin_of(came, pieces));
  }
}

static void scaga(int unused) {
  (void)unused;
  for (int to = 1; me == 0 && to < p; ++to)
    bsp_hpsend(&all, to, vector + begin_of(to, p), begin_of(to + 1, p) - begin_of(to, p));
  bsp_sync(&all);
  take(vector + begin_of(me, p));
  for (int i = 1; i < p; ++i) {
    const int to = (me + i) % p;
    if (to != 0)
      bsp_hpsend(&all, to, vector + begin_of(me, p), begin_of(me + 1, p) - begin_of(me, p));
  }
  bsp_sync(&all);
  for (int i = 0; i < bsp_nmsgs(&all); ++i) {
    t_bspmsg *const message = bsp_getmsg(&all, i);
    memcpy(vector + begin_of(bspmsg_src(message), p), bspmsg_data(message),
           (size_t)bspmsg_size(message));
  }
}

static const struct {
  const char *name;
  void (*broadcast)(int parameter);
  int parameter;
} kKinds[] = {{"gsend", gsend, 0},     {"tree.2", tree, 2},     {"tree.4", tree, 4},
              {"tree.8", tree, 8},     {"ptree.2", ptree, 2},   {"ptree.4", ptree, 4},
              {"ptree.16", ptree, 16}, {"ptree.64", ptree, 64}, {"scaga", scaga, 0}};
enum { kKindCount = sizeof kKinds / sizeof kKinds[0], kStepsMax = 64 };

static double sample(int kind, int steps) {
  for (int i = 0; i < nbytes; ++i) vector[i] = (char)(me == 0 ? i % 251 : 0);
  bsp_sync(&all);
  const double start_s = now_s();
  for (int i = 0; i < steps; ++i) kKinds[kind].broadcast(kKinds[kind].parameter);
  const double took_s = now_s() - start_s;
  bsp_sync(&all);
  for (int i = 0; i < nbytes; ++i) require(vector[i] == (char)(i % 251), kKinds[kind].name);
  return took_s / steps;
}

static void measure_all(int samples) {
  double *const taken_s = allocate((size_t)(kKindCount * samples) * sizeof(double));
  const int steps = nbytes < 1 << 20 ? kStepsMax : 4;
  for (int i = -1; i < samples; ++i) { /* The first one touches the memory. */
    for (int kind = 0; kind < kKindCount; ++kind) {
      const double s = sample(kind, steps);
      if (i >= 0) taken_s[kind * samples + i] = s;
    }
  }
  for (int kind = 0; kind < kKindCount && me == 0; ++kind) {
    char name[64];
    snprintf(name, sizeof name, "%s.%d", kKinds[kind].name, nbytes);
    figure(name, quantile(taken_s + kind * samples, samples, 0.5));
  }
  free(taken_s);
}

int main(int argc, char **argv) {
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &all);
  require(argc >= 3 && atoi(argv[1]) > 0, "usage: SAMPLES NBYTES...");
  p = bsp_nprocs(&all);
  me = bsp_pid(&all);
  for (int i = 2; i < argc; ++i) {
    nbytes = atoi(argv[i]);
    vector = allocate((size_t)nbytes);
    measure_all(atoi(argv[1]));
    free(vector);
  }
  bsplib_done();
  return 0;
}
