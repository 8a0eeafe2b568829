/* Source: semantics, PUB, statement 11
 * Claim: Areas that are registered or removed in a superstep that bsp_oblsync ends can be used, or
 *   cannot be any more, after it, as after one that bsp_sync ends; its messages are counted as in
 *   any other.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static void Check(pbsp bsp) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), turn;
  int *area = (int *)malloc(2 * sizeof(int));
  for (turn = 0; turn < 5; ++turn) {
    int got = -1;
    area[0] = area[1] = -1;
    bsp_push_reg(bsp, area, 2 * sizeof(int));
    if (me == 0) bsp_gsend(bsp, 0, p - 1, &turn, sizeof turn);
    bsp_oblsync(bsp, 1);
    EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(bsp, 0)), turn);
    bsp_put(bsp, (me + 1) % p, &turn, area, sizeof(int), sizeof turn);
    bsp_sync(bsp);
    EXPECT_EQ(area[0], -1);
    EXPECT_EQ(area[1], turn);
    bsp_get(bsp, (me + 1) % p, area, sizeof(int), &got, sizeof got);
    bsp_sync(bsp);
    EXPECT_EQ(got, turn);
    bsp_pop_reg(bsp, area);
    bsp_oblsync(bsp, 0);
    bsp_oblsync(bsp, 0);
  }
  free(area);
}

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int part[2];
  PUB_BEGIN(argc, argv, bsp);
  part[0] = bsp_nprocs(&bsp) / 2;
  part[1] = bsp_nprocs(&bsp);
  Check(&bsp);
  bsp_partition(&bsp, &sub, 2, part);
  Check(&sub);
  bsp_done(&sub);
  Check(&bsp);
  PUB_END(bsp);
  return 0;
}
