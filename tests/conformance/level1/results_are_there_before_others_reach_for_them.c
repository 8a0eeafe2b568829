/* Source: semantics, collectives, statement 8
 * Claim: When a call is over its result is in place also for the other processes: an unbuffered get
 *   finds it, and an unbuffered put is not overwritten by it, however long the operation takes.
 * Procs: 2 4
 * Cases: free pipeline full
 * Env if case == 'pipeline': BSP_COLLECTIVES=pipeline
 * Env if case == 'full': BSP_CHECK=full
 */
#include <time.h>

#include "bsp_level1.h"
#include "expect.h"

enum { kInts = 20000 };
static int value[kInts], result[kInts], got[kInts];

/* As addition, on the last process a long one. */
static void AddSlowly(void *sum, void *left, void *right, int *nbytes) {
  const clock_t start = clock();
  int i;
  while (bsp_pid() == bsp_nprocs() - 1 && clock() - start < CLOCKS_PER_SEC / 50) continue;
  for (i = 0; i < *nbytes / (int)sizeof(int); i++)
    ((int *)sum)[i] = ((int *)left)[i] + ((int *)right)[i];
}

static void Combine(int reduction) {
  const int bytes = (int)sizeof value, each = (int)sizeof *value;
  if (reduction == 0) bsp_fold(AddSlowly, value, result, bytes);
  if (reduction == 1) bsp_scan(AddSlowly, value, result, bytes);
  if (reduction == 2) bsp_fold_elements(AddSlowly, value, result, kInts, each);
  if (reduction == 3) bsp_scan_elements(AddSlowly, value, result, kInts, each);
}

int main(void) {
  int i, p, me, reduction;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  for (i = 0; i < kInts; i++) value[i] = me + i;
  bsp_push_reg(result, sizeof result);
  bsp_sync();
  for (reduction = 0; reduction < 4; reduction++) {
    Combine(reduction);
    bsp_hpget(p - 1, result, 0, got, sizeof got);
    bsp_sync();
    for (i = 0; i < kInts; i++) EXPECT_EQ(got[i], p * (p - 1) / 2 + p * i);
    Combine(reduction);
    if (me == 0) bsp_hpput(p - 1, value, result, 0, sizeof result);
    bsp_sync();
    for (i = 0; me == p - 1 && i < kInts; i++) EXPECT_EQ(result[i], i);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
