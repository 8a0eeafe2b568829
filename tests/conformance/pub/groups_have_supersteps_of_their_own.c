/* Source: PUB 2003, section 2.4, statement 1
 * Source: PUB 2003, section 4.1.1, statement 1
 * Claim: Each group is an autonomous BSP computer: its processors have messages and synchronisation
 *   points of their own, and need not take as many supersteps as those of other groups.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int part[2], p, me, group, q, s, value;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  group = bsp_pid(&bsp) >= p / 2;
  part[0] = p / 2;
  part[1] = p;
  bsp_partition(&bsp, &sub, 2, part);
  q = bsp_nprocs(&sub);
  me = bsp_pid(&sub);
  for (s = 0; s < 3 + 40 * group; ++s) {
    value = 1000 * group + me + s;
    bsp_send(&sub, (me + 1) % q, &value, sizeof value);
    bsp_sync(&sub);
    EXPECT_EQ(bsp_nmsgs(&sub), 1);
    EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&sub, 0)), 1000 * group + (me + q - 1) % q + s);
  }
  bsp_done(&sub);
  PUB_END(bsp);
  return 0;
}
