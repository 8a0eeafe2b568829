/* Source: PUB 2003, section 2.4, statement 4
 * Claim: The processors rejoin by bsp_done, after which the supergroup is active again: messages
 *   that it has received can still be read, and those that were sent before arrive at its next
 *   barrier.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int part[2], p, me, i, value;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  part[0] = p / 2;
  part[1] = p;
  bsp_send(&bsp, (me + 1) % p, &me, sizeof me);
  bsp_sync(&bsp);
  value = 100 + me;
  bsp_send(&bsp, (me + 1) % p, &value, sizeof value);
  bsp_partition(&bsp, &sub, 2, part);
  for (i = 0; i < 5; ++i) {
    bsp_send(&sub, 0, &i, sizeof i);
    bsp_sync(&sub);
  }
  bsp_done(&sub);
  EXPECT_EQ(bsp_nmsgs(&bsp), 1);
  EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&bsp, 0)), (me + p - 1) % p);
  bsp_sync(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), 1);
  EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&bsp, 0)), 100 + (me + p - 1) % p);
  PUB_END(bsp);
  return 0;
}
