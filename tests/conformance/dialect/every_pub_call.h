/* every_pub_call.h: a program that makes each call of pub.h, for dialects that must take it. */
#ifndef EVERY_PUB_CALL_H_
#define EVERY_PUB_CALL_H_

#include <pub.h>

#include "pub/expect_pub.h"

static int EveryPubCall(int argc, char **argv) {
  tbsp bsp, sub;
  pbsp all = &bsp;
  tbspmsg *msg;
  t_bspop op;
  int x = 1, y = 0, z[64], p, me, part[1], table[1];
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, all);
  p = bsp_nprocs(all);
  me = bsp_pid(all);
  part[0] = p;
  table[0] = me;
  op = *bspop_maxint;
  bsp_partition(all, &sub, 1, part);
  bsp_done(&sub);
  bsp_threadsafe_dup(all, &sub);
  bsp_done(&sub);
  bsp_dup(all, &sub);
  bsp_send(&sub, me, &x, sizeof x);
  bsp_hpsend(&sub, me, &x, sizeof x);
  bsp_gsend(&sub, me, me, &x, sizeof x);
  bsp_hpgsend(&sub, me, me, &x, sizeof x);
  bsp_lsend(&sub, table, 1, &x, sizeof x);
  bsp_hplsend(&sub, table, 1, &x, sizeof x);
  bsp_greduce(&sub, me, me, &x, z, 1, bspop_addint, NULL);
  bsp_lreduce(&sub, table, 1, &x, z + 1, 1, &op, NULL);
  bsp_gallreduce(&sub, me, me, &x, z + 2, 1, bspop_mulint, NULL);
  bsp_lallreduce(&sub, table, 1, &x, z + 3, 1, bspop_minint, NULL);
  bsp_gscan(&sub, me, me, &x, z + 4, 1, bspop_addint, NULL);
  bsp_lscan(&sub, table, 1, &x, z + 5, 1, bspop_addint, NULL);
  bsp_gallscan(&sub, me, me, &x, z + 6, 1, bspop_addint, NULL);
  bsp_lallscan(&sub, table, 1, &x, z + 7, 1, bspop_addint, NULL);
  bsp_oblsync(&sub, 6 + 8);
  EXPECT_EQ(bsp_nmsgs(&sub), 6);
  msg = bsp_getmsg(&sub, 5);
  EXPECT(msg == bsp_findmsg(&sub, me, 5));
  EXPECT_EQ(*(int *)bspmsg_data(msg), 1);
  EXPECT_EQ(bspmsg_size(msg), sizeof x);
  EXPECT_EQ(bspmsg_src(msg), me);
  for (p = 0; p < 8; ++p) EXPECT_EQ(z[p], 1);
  bsp_done(&sub);
  bsp_push_reg(all, &y, sizeof y);
  bsp_sync(all);
  bsp_put(all, me, &x, &y, 0, sizeof x);
  bsp_get(all, me, &y, 0, z, sizeof x);
  bsp_sync(all);
  EXPECT_EQ(y + z[0], 1);
  bsp_hpget(all, me, &y, 0, z, sizeof x);
  bsp_sync(all);
  bsp_hpput(all, me, &x, &y, 0, sizeof x);
  bsp_pop_reg(all, &y);
  bsp_sync(all);
  EXPECT_EQ(y + z[0], 2);
  PUB_END(bsp);
  return 0;
}

#endif /* EVERY_PUB_CALL_H_ */
