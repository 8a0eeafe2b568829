/* Source: PUB 2003, section 3.1, statement 5
 * Source: PUB 2003, section 3.2, statement 5
 * Claim: A result is in place when the superstep after it begins, also for the other processes:
 *   an unbuffered get finds it, and an unbuffered put is not overwritten by it, however long the
 *   operation takes.
 * Procs: 2 4
 * Cases: sync oblsync full
 * Env if case == 'full': BSP_CHECK=full
 */
#include <pub.h>
#include <time.h>

#include "pub/expect_pub.h"

enum { kInts = 16384 };
static int value[kInts], result[kInts], got[kInts];

/* As addition, on one process a long one. */
static void AddSlowly(void *sum, const void *left, const void *right, int count, void *bsp) {
  const clock_t start = clock();
  int i, is_last = bsp_pid((pbsp)bsp) == bsp_nprocs((pbsp)bsp) - 1;
  while (is_last && clock() - start < CLOCKS_PER_SEC / 50) continue;
  for (i = 0; i < count; ++i) ((int *)sum)[i] = ((const int *)left)[i] + ((const int *)right)[i];
}

int main(int argc, char **argv) {
  t_bsp bsp;
  t_bspop add;
  int i, p, me, step, counted = argc > 1 && argv[1][0] == 'o';
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  add.size = sizeof(int);
  add.combine = AddSlowly;
  bsp_push_reg(&bsp, result, sizeof result);
  bsp_sync(&bsp);
  for (step = 0; step < 2; ++step) {
    for (i = 0; i < kInts; ++i) value[i] = me + i, result[i] = -1;
    bsp_greduce(&bsp, 0, p - 1, value, result, kInts, &add, &bsp);
    if (counted) {
      bsp_oblsync(&bsp, 1);
    } else {
      bsp_sync(&bsp);
    }
    if (step == 0) bsp_hpget(&bsp, p - 1, result, 0, got, sizeof got);
    if (step == 1 && me == 0) bsp_hpput(&bsp, p - 1, value, result, 0, sizeof result);
    bsp_sync(&bsp);
    for (i = 0; i < kInts; ++i) {
      if (step == 0) EXPECT_EQ(got[i], p * (p - 1) / 2 + p * i);
      if (step == 1 && me == p - 1) EXPECT_EQ(result[i], i);
    }
  }
  PUB_END(bsp);
  return 0;
}
