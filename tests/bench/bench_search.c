/* bench_search SAMPLES QUERIES...: parallel binary search in a search-butterfly, in the stages in
 * which the PUB paper (Bonorden, Juurlink, von Otte, Rieping 2003, section 2) makes it faster. The
 * figure STAGE.QUERIES is the time that a query takes on each process, in ns: of routing alone, on
 * the slowest process, in the median of SAMPLES runs. p is a power of two. */
#include <pub.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kKeys = 1024, kDimensionsMax = 6, kStages = 5 };

/* 1b: packets are combined; 2a, 2b: bulk transfers, buffered and not; 3a: groups; 3b: oblivious. */
static const char *const kNames[kStages] = {"1b", "2a", "2b", "3a", "3b"};

static t_bsp all;
static int p, me, dimensions, gkey[kDimensionsMax];
static int *query, *given, *temp;
static int kept;

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void Fail(const char *what) {
  fprintf(stderr, "bench_search: %s\n", what);
  exit(1);
}

/* Whether a query has to go to the other half. */
static int Crosses(int x, int dim) { return (x > gkey[dim]) != (me >> dim & 1); }

static void RouteOneByOne(int m) {
  int dim, i;
  for (dim = dimensions - 1; dim >= 0; --dim) {
    for (i = kept = 0; i < m; ++i) {
      if (Crosses(query[i], dim)) {
        bsp_send(&all, me ^ 1 << dim, &query[i], sizeof(int));
      } else {
        query[kept++] = query[i];
      }
    }
    bsp_sync(&all);
    for (i = 0; i < bsp_nmsgs(&all); ++i) query[kept++] = *(int *)bspmsg_data(bsp_getmsg(&all, i));
    m = kept;
  }
}

static int Split(int m, int dim) {
  int i, other = 0;
  for (i = kept = 0; i < m; ++i) {
    if (Crosses(query[i], dim)) {
      temp[other++] = query[i];
    } else {
      query[kept++] = query[i];
    }
  }
  return other * (int)sizeof(int);
}

static int Append(pbsp bsp) {
  t_bspmsg *msg = bsp_getmsg(bsp, 0);
  memcpy(query + kept, bspmsg_data(msg), (size_t)bspmsg_size(msg));
  kept += bspmsg_size(msg) / (int)sizeof(int);
  return kept;
}

static void RouteInBulk(int m, int unbuffered) {
  int dim;
  for (dim = dimensions - 1; dim >= 0; --dim) {
    int bytes = Split(m, dim);
    if (unbuffered) {
      bsp_hpsend(&all, me ^ 1 << dim, temp, bytes);
    } else {
      bsp_send(&all, me ^ 1 << dim, temp, bytes);
    }
    bsp_sync(&all);
    m = Append(&all);
  }
}

static void RouteInGroups(pbsp bsp, int dim, int m, int oblivious) {
  int q = bsp_nprocs(bsp), bytes = Split(m, dim);
  bsp_hpsend(bsp, (bsp_pid(bsp) + q / 2) % q, temp, bytes);
  if (oblivious) {
    bsp_oblsync(bsp, 1);
  } else {
    bsp_sync(bsp);
  }
  m = Append(bsp);
  if (dim > 0) {
    t_bsp half;
    int part[2];
    part[0] = q / 2;
    part[1] = q;
    bsp_partition(bsp, &half, 2, part);
    RouteInGroups(&half, dim - 1, m, oblivious);
    bsp_done(&half);
  }
}

static void Route(int stage, int m) {
  if (stage == 0) RouteOneByOne(m);
  if (stage == 1 || stage == 2) RouteInBulk(m, stage == 2);
  if (stage >= 3) RouteInGroups(&all, dimensions - 1, m, stage == 4);
}

/* Each query must be one of this process's keys, and none may be lost. */
static void Check(int m) {
  int i, count = 0;
  for (i = 0; i < kept; ++i)
    if (query[i] / kKeys != me) Fail("a query is on the wrong process");
  bsp_gallreduce(&all, 0, p - 1, &kept, &count, 1, bspop_addint, NULL);
  bsp_sync(&all);
  if (count != m * p) Fail("queries are lost");
}

static int Compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double Sample(int stage, int m) {
  double start, took, slowest = 0;
  memcpy(query, given, (size_t)m * sizeof(int));
  bsp_sync(&all);
  start = Now();
  Route(stage, m);
  took = Now() - start;
  bsp_gallreduce(&all, 0, p - 1, &took, &slowest, 1, bspop_maxdouble, NULL);
  bsp_sync(&all);
  return slowest;
}

/* The stages in turn, so that all have the same minutes. */
static void Measure(int m, int samples, double *times) {
  int i, stage;
  for (i = -1; i < samples; ++i) { /* The first is a warm-up, and checked. */
    for (stage = 0; stage < kStages; ++stage) {
      double ns = Sample(stage, m);
      if (i < 0) Check(m);
      if (i >= 0) times[stage * samples + i] = ns;
    }
  }
  for (stage = 0; stage < kStages && me == 0; ++stage) {
    qsort(times + stage * samples, (size_t)samples, sizeof *times, Compare);
    printf("figure %s.%d %.1f\n", kNames[stage], m, times[stage * samples + samples / 2] / m);
  }
}

static void Prepare(int most) {
  unsigned random = 12345u + (unsigned)me;
  int d, i;
  size_t bytes = (size_t)most * (size_t)p * sizeof(int);
  while (1 << dimensions < p) ++dimensions;
  if (1 << dimensions != p || p < 2 || dimensions > kDimensionsMax)
    Fail("p must be a power of two from 2 to 64");
  for (d = 0; d < dimensions; ++d) gkey[d] = ((me >> (d + 1) << (d + 1)) + (1 << d)) * kKeys - 1;
  query = malloc(bytes);
  given = malloc((size_t)most * sizeof(int));
  temp = malloc(bytes);
  if (query == NULL || given == NULL || temp == NULL) Fail("no memory");
  memset(query, 0, bytes);
  memset(temp, 0, bytes);
  for (i = 0; i < most; ++i) {
    random = random * 1103515245u + 12345u;
    given[i] = (int)(random / 65536u % (unsigned)(kKeys * p));
  }
}

int main(int argc, char **argv) {
  int i, most = 1, samples;
  double *times;
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &all);
  p = bsp_nprocs(&all);
  me = bsp_pid(&all);
  samples = argc > 2 ? atoi(argv[1]) : 0;
  if (samples < 1) Fail("usage: bench_search SAMPLES QUERIES...");
  for (i = 2; i < argc; ++i) {
    if (atoi(argv[i]) < 1) Fail("a number of queries is at least 1");
    if (atoi(argv[i]) > most) most = atoi(argv[i]);
  }
  Prepare(most);
  times = malloc((size_t)kStages * (size_t)samples * sizeof *times);
  if (times == NULL) Fail("no memory");
  for (i = 2; i < argc; ++i) Measure(atoi(argv[i]), samples, times);
  bsplib_done();
  return 0;
}
