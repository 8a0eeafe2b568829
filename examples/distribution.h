/* distribution.h: how the examples spread data over the processes.
 *
 * Block distribution: of n items process s of p holds those from BlockBegin(n, p, s) up to, but
 * without, BlockBegin(n, p, s + 1). The sizes differ by at most one; p need not divide n.
 */
#ifndef EXAMPLES_DISTRIBUTION_H_
#define EXAMPLES_DISTRIBUTION_H_

#include <bsp.h>
#include <stdlib.h>

static inline int BlockBegin(int n, int p, int s) { return (int)((long long)n * s / p); }

static inline int BlockSize(int n, int p, int s) {
  return BlockBegin(n, p, s + 1) - BlockBegin(n, p, s);
}

/* The process that holds item i, 0 <= i < n: the largest s with BlockBegin(n, p, s) <= i. */
static inline int BlockOwner(int n, int p, int i) {
  return (int)(((long long)p * (i + 1) - 1) / n);
}

/* Copies `nbytes` bytes at `data` on process 0 to `data` on all others. For parameters: process 0
 * sends all p - 1 copies itself. Cost: (p - 1) nbytes g + 2 l. */
static inline void BroadcastFromZero(void *data, int nbytes) {
  bsp_push_reg(data, nbytes);
  bsp_sync();
  if (bsp_pid() != 0) bsp_get(0, data, 0, data, nbytes);
  bsp_pop_reg(data); /* Still usable until the barrier. */
  bsp_sync();
}

/* `count` items of `size` bytes, all zero. Never NULL, not even for nothing: an area that is to be
 * registered needs an address of its own on every process. */
static inline void *Allocate(size_t count, size_t size) {
  void *area = calloc(count > 0 ? count : 1, size);
  if (area == NULL) bsp_abort("out of memory: %zu items of %zu bytes", count, size);
  return area;
}

#endif /* EXAMPLES_DISTRIBUTION_H_ */
