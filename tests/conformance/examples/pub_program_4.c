/* Source: PUB 2003, section 3.1, statement 1
 * Claim: Program 4, XY-Sort, as printed but for its layout: broadcasts to rows and columns, a
 *   reduction of each column, and puts.
 * Procs: 1 4 64
 */
#include <pub.h>

#include "pub/expect_pub.h"

static pbsp bsp;
static t_bspmsg *msg;
static int i, sqrt_p, p, mypid, myRow, myCol, dst[64], key, key1, key2,
    rank; /* tidy: the paper's */

#define FirstOfRow(row) ((row)*sqrt_p)
#define LastOfRow(row) ((row)*sqrt_p + sqrt_p - 1)

void XY_Sort(void) {
  for (i = 0; i < sqrt_p; i++) dst[i] = i * sqrt_p + myCol;
  if (myRow == 0) {
    bsp_gsend(bsp, FirstOfRow(mypid), LastOfRow(mypid), &key, sizeof(int));
    bsp_lsend(bsp, dst, sqrt_p, &key, sizeof(int));
  }
  bsp_oblsync(bsp, 2);
  msg = bsp_findmsg(bsp, myCol, 0);
  key1 = *(int *)bspmsg_data(msg);
  msg = bsp_findmsg(bsp, myRow, 0);
  key2 = *(int *)bspmsg_data(msg);

  rank = (key1 > key2 || (key1 == key2 && myCol > myRow)) ? 1 : 0; /* tidy: the paper's */

  bsp_lreduce(bsp, dst, sqrt_p, &rank, &rank, 1, bspop_addint, NULL); /* tidy: the paper's */
  bsp_push_reg(bsp, &key, sizeof(key));
  bsp_oblsync(bsp, 1);

  if (mypid >= p - sqrt_p) bsp_put(bsp, rank, &key1, &key, 0, sizeof(key)); /* tidy: the paper's */
  bsp_pop_reg(bsp, &key);
  bsp_sync(bsp);
}

int main(int argc, char **argv) {
  t_bsp all;
  PUB_BEGIN(argc, argv, all);
  bsp = &all;
  mypid = bsp_pid(bsp);
  p = bsp_nprocs(bsp);
  for (sqrt_p = 1; sqrt_p * sqrt_p < p; ++sqrt_p) continue;
  EXPECT_EQ(sqrt_p * sqrt_p, p);
  myRow = mypid / sqrt_p;
  myCol = mypid % sqrt_p;
  key = (mypid * 5 + 3) % 8 / 2; /* Of the first row; some occur twice. */
  XY_Sort();
  /* The i-th smallest of them is on processor i. */
  if (myRow == 0) {
    int less = 0, same = 0;
    for (i = 0; i < sqrt_p; ++i) {
      int other = (i * 5 + 3) % 8 / 2;
      less += other < key;
      same += other == key;
    }
    EXPECT(less <= mypid && mypid < less + same);
  }
  PUB_END(all);
  return 0;
}
