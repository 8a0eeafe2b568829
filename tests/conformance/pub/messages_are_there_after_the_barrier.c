/* Source: PUB 2003, section 2.2, statement 4
 * Source: PUB 2003, section 2.2, statement 8
 * Claim: After bsp_sync all messages of the superstep are in the buffer, and not before; at the
 *   next one they are gone.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, to, i;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), 0);
  for (i = 0; i < 100; ++i)
    for (to = 0; to < p; ++to) bsp_send(&bsp, to, &i, sizeof i);
  EXPECT_EQ(bsp_nmsgs(&bsp), 0);
  EXPECT(bsp_getmsg(&bsp, 0) == NULL);
  bsp_sync(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), 100 * p);
  bsp_send(&bsp, (me + 1) % p, NULL, 0); /* An empty message is one. */
  bsp_sync(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), 1);
  EXPECT_EQ(bspmsg_size(bsp_getmsg(&bsp, 0)), 0);
  bsp_sync(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), 0);
  EXPECT(bsp_findmsg(&bsp, 0, 0) == NULL);
  PUB_END(bsp);
  return 0;
}
