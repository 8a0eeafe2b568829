/* Source: PUB 2003, section 3.1, statement 4
 * Source: PUB 2003, section 3.1, statement 5
 * Source: PUB 2003, introduction, statement 3
 * Claim: Several broadcasts, reductions and scans, of different processes, are begun in one
 *   superstep, beside messages; their results are there after it, and no sooner.
 * Cases: sync oblsync
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, half, i, sum, most, prefix, own, expected, n, table[64];
  int counted = argc > 1 && argv[1][0] == 'o';
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  half = me < p / 2 ? p / 2 : p; /* Where this half ends. */
  for (n = 0, i = me % 2; i < p; i += 2) table[n++] = i;
  for (i = 0; i < 10; ++i) {
    sum = most = prefix = -1;
    own = me + i;
    bsp_greduce(&bsp, 0, p - 1, &own, &sum, 1, bspop_addint, NULL);
    bsp_send(&bsp, (me + 1) % p, &own, sizeof own);
    bsp_gallreduce(&bsp, half == p ? p / 2 : 0, half - 1, &own, &most, 1, bspop_maxint, NULL);
    bsp_lscan(&bsp, table, n, &own, &prefix, 1, bspop_addint, NULL);
    if (me == 0) bsp_gsend(&bsp, 0, p - 1, &i, sizeof i);
    own = -7; /* It has been copied. */
    EXPECT_EQ(sum, -1);
    EXPECT_EQ(most, -1);
    EXPECT_EQ(prefix, -1);
    if (counted) {
      bsp_oblsync(&bsp, 3 + 2); /* Three reductions and scans, two messages. */
    } else {
      bsp_sync(&bsp);
    }
    EXPECT_EQ(bsp_nmsgs(&bsp), 2);
    EXPECT_EQ(*(int *)bspmsg_data(bsp_findmsg(&bsp, 0, me == 1 % p)), i);
    if (me == p - 1) EXPECT_EQ(sum, p * (p - 1) / 2 + p * i);
    if (me != p - 1) EXPECT_EQ(sum, -1);
    EXPECT_EQ(most, half - 1 + i);
    for (expected = 0, n = me % 2; n <= me; n += 2) expected += n + i;
    EXPECT_EQ(prefix, expected);
    for (n = 0, expected = me % 2; expected < p; expected += 2) table[n++] = expected;
  }
  bsp_sync(&bsp);
  PUB_END(bsp);
  return 0;
}
