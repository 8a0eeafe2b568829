/* Source: PUB 2003, introduction, statement 5
 * Source: PUB 2003, section 2.4, statement 1
 * Claim: The processors are partitioned anew as the program goes, and completely different
 *   algorithms run in the groups at the same time, with as many supersteps as each needs.
 */
#include <pub.h>

#include "pub/expect_pub.h"

/* A token goes through the group, from one process to the next. */
static void PassAround(pbsp bsp, int base) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), step, token = base;
  for (step = 0; step + 1 < p; ++step) {
    if (me == step) bsp_send(bsp, me + 1, &token, sizeof token);
    bsp_sync(bsp);
    if (me == step + 1) token = *(int *)bspmsg_data(bsp_getmsg(bsp, 0)) + 1;
  }
  EXPECT_EQ(token, base + me);
}

/* Prefix sums in a logarithmic number of supersteps, in memory of the group. */
static void AddByDoubling(pbsp bsp, int base) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), distance, sum = base + me, left = 0;
  bsp_push_reg(bsp, &left, sizeof left);
  bsp_sync(bsp);
  for (distance = 1; distance < p; distance *= 2) {
    if (me + distance < p) bsp_put(bsp, me + distance, &sum, &left, 0, sizeof sum);
    bsp_sync(bsp);
    if (me >= distance) sum += left;
  }
  bsp_pop_reg(bsp, &left);
  EXPECT_EQ(sum, (me + 1) * base + me * (me + 1) / 2);
}

/* One reduction, whose end is counted. */
static void AddAtOnce(pbsp bsp, int base) {
  int p = bsp_nprocs(bsp), value = base + bsp_pid(bsp), sum = -1;
  bsp_gallreduce(bsp, 0, p - 1, &value, &sum, 1, bspop_addint, NULL);
  bsp_oblsync(bsp, 1);
  EXPECT_EQ(sum, p * base + p * (p - 1) / 2);
}

int main(int argc, char **argv) {
  static void (*const algorithms[])(pbsp, int) = {PassAround, AddByDoubling, AddAtOnce};
  t_bsp bsp, sub;
  int part[3], p, me, step;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (step = 0; step < 4; ++step) {
    int group;
    part[0] = step * p / 8; /* Nobody, at first. */
    part[1] = part[0] + (p - part[0]) / 3;
    part[2] = p;
    group = me < part[0] ? 0 : me < part[1] ? 1 : 2;
    bsp_partition(&bsp, &sub, 3, part);
    algorithms[(group + step) % 3](&sub, 100 * step);
    bsp_done(&sub);
  }
  bsp_sync(&bsp);
  PUB_END(bsp);
  return 0;
}
