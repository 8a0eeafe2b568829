/* Source: semantics, PUB, statement 9
 * Claim: Messages are ordered by the pid of their source in the group, then as they were sent,
 *   broadcasts among them; beyond the last there is none, which is NULL.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static void Check(pbsp bsp) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), to, i, at = 0;
  for (i = 0; i < 3; ++i) {
    for (to = p - 1; to >= 0; --to) {
      if (i != 1) bsp_send(bsp, to, &i, sizeof i);
    }
    if (i == 1) bsp_gsend(bsp, 0, p - 1, &i, sizeof i);
  }
  if (me == p - 1) bsp_hpsend(bsp, 0, NULL, 0);
  bsp_sync(bsp);
  EXPECT_EQ(bsp_nmsgs(bsp), 3 * p + (me == 0));
  for (to = 0; to < p; ++to) {
    for (i = 0; i < 3; ++i, ++at) {
      t_bspmsg *msg = bsp_getmsg(bsp, at);
      EXPECT_EQ(bspmsg_src(msg), to);
      EXPECT_EQ(*(int *)bspmsg_data(msg), i);
      EXPECT(msg == bsp_findmsg(bsp, to, i));
    }
  }
  if (me == 0) EXPECT_EQ(bspmsg_size(bsp_getmsg(bsp, at++)), 0);
  EXPECT(bsp_getmsg(bsp, at) == NULL);
  EXPECT(bsp_getmsg(bsp, at + 1000) == NULL);
}

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int part[2];
  PUB_BEGIN(argc, argv, bsp);
  part[0] = bsp_nprocs(&bsp) / 3;
  part[1] = bsp_nprocs(&bsp);
  Check(&bsp);
  bsp_partition(&bsp, &sub, 2, part);
  Check(&sub);
  bsp_done(&sub);
  PUB_END(bsp);
  return 0;
}
