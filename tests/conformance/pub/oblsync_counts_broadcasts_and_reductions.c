/* Source: PUB 2003, section 3.1, statement 13
 * Source: semantics, PUB, statement 7
 * Claim: Each processor receives a known number of messages in a superstep of broadcasts, so that
 *   bsp_oblsync can end it: a broadcast is a message for each that gets it, its sender included, a
 *   reduction or scan one on each that takes part.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int even[32], table[64], p, me, i, turn, half, n, sum, last;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  half = (p + 1) / 2; /* As many as are even. */
  for (i = 0; i < half; ++i) even[i] = 2 * i;
  for (i = 0; i < p; ++i) table[i] = (i + 3) % p;
  for (turn = 0; turn < 10; ++turn) {
    int prefixes[64], expected = 0;
    n = 0;
    sum = last = -1;
    bsp_send(&bsp, (me + 1) % p, &turn, sizeof turn); /* To each from one. */
    n += 1;
    if (me == turn % p) bsp_gsend(&bsp, 0, p - 1, &turn, sizeof turn);
    n += 1;
    if (me == p - 1) bsp_lsend(&bsp, even, half, &turn, sizeof turn);
    n += me % 2 == 0;
    if (me == 0) bsp_hpgsend(&bsp, 0, 0, NULL, 0); /* To itself, and nothing. */
    n += me == 0;
    expected = n;
    bsp_greduce(&bsp, 0, half - 1, &me, &sum, 1, bspop_addint, NULL);
    n += me < half;
    bsp_lallscan(&bsp, table, p, &me, prefixes, 1, bspop_maxint, NULL);
    n += 1;
    if (me % 2 == 0) bsp_lreduce(&bsp, even, half, &me, &last, 1, bspop_maxint, NULL);
    n += me % 2 == 0;
    bsp_oblsync(&bsp, n);
    EXPECT_EQ(bsp_nmsgs(&bsp), expected);
    for (i = 0; i < expected; ++i) {
      t_bspmsg *msg = bsp_getmsg(&bsp, i);
      if (bspmsg_size(msg) > 0) EXPECT_EQ(*(int *)bspmsg_data(msg), turn);
    }
    EXPECT_EQ(sum, me == half - 1 ? half * (half - 1) / 2 : -1);
    EXPECT_EQ(prefixes[0], table[0]);
    EXPECT_EQ(prefixes[p - 1], p - 1);
    EXPECT_EQ(last, me == even[half - 1] ? me : -1);
  }
  PUB_END(bsp);
  return 0;
}
