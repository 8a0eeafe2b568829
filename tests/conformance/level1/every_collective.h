/* every_collective.h: one use of every call of bsp_level1.h, in what C89, C23 and C++ have in
 * common.
 */
#ifndef EVERY_COLLECTIVE_H_
#define EVERY_COLLECTIVE_H_

#include "bsp_level1.h"
#include "expect.h"

static void AddInts(void *result, void *left, void *right, int *nbytes) {
  EXPECT_EQ(*nbytes, sizeof(int));
  *(int *)result = *(int *)left + *(int *)right;
}

static void EveryMovement(int p, int me) {
  static int blocks[64], all[64];
  int i, x = me, y = -1, sum = p * (p - 1) / 2;
  bsp_bcast(p - 1, &x, &y, (int)sizeof x);
  EXPECT_EQ(y, p - 1);
  bsp_gather(0, &x, blocks, (int)sizeof x);
  for (i = 0; me == 0 && i < p; i++) EXPECT_EQ(blocks[i], i);
  bsp_scatter(0, blocks, &y, (int)sizeof y);
  EXPECT_EQ(y, me);
  for (i = 0; i < p; i++) blocks[i] = 100 * me + i;
  bsp_exchange(blocks, all, (int)sizeof *all);
  for (i = 0; i < p; i++) EXPECT_EQ(all[i], 100 * i + me);
  bsp_fold(AddInts, &x, &y, (int)sizeof x);
  EXPECT_EQ(y, sum);
  bsp_scan(AddInts, &x, &y, (int)sizeof x);
  EXPECT_EQ(y, me * (me + 1) / 2);
}

static void EveryReduction(int p, int me) {
  int ones = me + 1;
  EXPECT(bsp_all(1) == 1 && bsp_any(0) == 0 && bsp_constantI(3) == 1);
  EXPECT(bsp_sumI(1) == p && bsp_sumR(1) == p && bsp_sumD(1) == p);
  EXPECT(bsp_productI(1) == 1 && bsp_productR(1) == 1 && bsp_productD(1) == 1);
  EXPECT(bsp_minI(me) == 0 && bsp_minR((float)me) == 0 && bsp_minD(me) == 0);
  EXPECT(bsp_maxI(ones) == p && bsp_maxR((float)ones) == p && bsp_maxD(ones) == p);
  EXPECT(bsp_sumI_prefix(1) == ones && bsp_sumR_prefix(1) == ones && bsp_sumD_prefix(1) == ones);
  EXPECT(bsp_productI_prefix(1) == 1 && bsp_productR_prefix(1) == 1);
  EXPECT(bsp_productD_prefix(1) == 1);
  EXPECT(bsp_minI_prefix(me) == 0 && bsp_minR_prefix((float)me) == 0 && bsp_minD_prefix(me) == 0);
  EXPECT(bsp_maxI_prefix(me) == me && bsp_maxR_prefix((float)me) == me);
  EXPECT(bsp_maxD_prefix(me) == me);
  EXPECT(bsp_sortC((char)(p - me)) == (char)ones && bsp_sortI(p - me) == ones);
  EXPECT(bsp_sortR((float)(p - me)) == ones && bsp_sortD(p - me) == ones);
  EXPECT(bsp_s() > 0 && bsp_g() > 0 && bsp_l() > 0 && bsp_nhalf() >= 0);
}

static void EveryCollective(void) {
  bsp_begin(bsp_nprocs());
  EveryMovement((int)bsp_nprocs(), (int)bsp_pid());
  EveryReduction((int)bsp_nprocs(), (int)bsp_pid());
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
}

#endif /* EVERY_COLLECTIVE_H_ */
