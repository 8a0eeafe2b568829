/* butterfly.h: a search-butterfly as in section 2.1 of the PUB paper, and queries for it. Processor
 * q holds the keys of q * n, ..., (q + 1) * n - 1, times 10; queries are such keys. Include after
 * pub.h. */
#ifndef BUTTERFLY_H_
#define BUTTERFLY_H_

#include "pub/expect_pub.h"

enum { n = 32, kQueries = 100, kMostProcessors = 64 };

static int key[n], gkey[6], query[kQueries * kMostProcessors], temp[kQueries * kMostProcessors];
static int located;

#define inLeftHalf(dim, pid) (((pid) >> (dim)&1) == 0)
#define inRightHalf(dim, pid) (((pid) >> (dim)&1) == 1)
#define Opposite(dim, pid) ((pid) ^ (1 << (dim)))

/* Fills key, gkey and query, and returns log p. */
static int MakeButterfly(int p, int pid) {
  int dims = 0, d, i;
  unsigned random = 12345u + (unsigned)pid;
  while (1 << dims < p) ++dims;
  EXPECT_EQ(1 << dims, p);
  for (i = 0; i < n; ++i) key[i] = (pid * n + i) * 10;
  for (d = 0; d < dims; ++d) {
    int right = (pid >> (d + 1) << (d + 1)) + (1 << d); /* The first processor of the right half. */
    gkey[d] = (right * n - 1) * 10;
  }
  for (i = 0; i < kQueries; ++i) {
    random = random * 1103515245u + 12345u;
    query[i] = (int)(random / 65536u % (unsigned)(n * p)) * 10;
  }
  return dims;
}

static void local_search(int count, int *queries, int keys, int *tree) {
  int i, j;
  for (i = 0; i < count; ++i) {
    for (j = 0; j < keys && tree[j] != queries[i]; ++j) continue;
    EXPECT(j < keys);
  }
  located = count;
}

/* Of all processes; m queries each. */
static void ExpectAllLocated(pbsp bsp, int m) {
  int i, sum = 0;
  bsp_send(bsp, 0, &located, sizeof located);
  bsp_sync(bsp);
  if (bsp_pid(bsp) != 0) return;
  for (i = 0; i < bsp_nmsgs(bsp); ++i) sum += *(int *)bspmsg_data(bsp_getmsg(bsp, i));
  EXPECT_EQ(sum, m * bsp_nprocs(bsp));
}

#endif /* BUTTERFLY_H_ */
