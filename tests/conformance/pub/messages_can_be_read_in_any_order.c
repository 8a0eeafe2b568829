/* Source: PUB 2003, section 2.2, statement 5
 * Source: PUB 2003, section 2.2, statement 6
 * Claim: bsp_getmsg gives the i-th message, for any i, and does not remove it; bspmsg_data,
 *   bspmsg_size and bspmsg_src are its bytes, their number and its source.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, i, k, all, content[40];
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (i = 0; i < 40; ++i) content[i] = 1000 * me + i;
  for (i = 1; i <= 40; ++i)
    for (k = 0; k < p; ++k) bsp_send(&bsp, k, content, i * (int)sizeof(int));
  bsp_sync(&bsp);
  all = bsp_nmsgs(&bsp);
  EXPECT_EQ(all, 40 * p);
  for (k = 0; k < 3 * all; ++k) {
    t_bspmsg *msg;
    i = k * 37 % all; /* By the source, then as they were sent. */
    msg = bsp_getmsg(&bsp, i);
    EXPECT_EQ(bspmsg_src(msg), i / 40);
    EXPECT_EQ(bspmsg_size(msg), (i % 40 + 1) * sizeof(int));
    EXPECT_EQ(((int *)bspmsg_data(msg))[i % 40], 1000 * (i / 40) + i % 40);
  }
  EXPECT_EQ(bsp_nmsgs(&bsp), all);
  EXPECT(bsp_getmsg(&bsp, all) == NULL);
  PUB_END(bsp);
  return 0;
}
