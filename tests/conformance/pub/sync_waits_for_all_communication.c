/* Source: PUB 2003, introduction, statement 1
 * Source: PUB 2003, introduction, statement 2
 * Claim: When a superstep begins all messages that were sent in the one before have reached their
 *   destinations.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, s, from, words[64];
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (s = 0; s < 20; ++s) {
    int to, count = s * 7 % 64;
    for (to = 0; to < count; ++to) words[to] = me * 1000 + s;
    for (to = 0; to < p; ++to) bsp_send(&bsp, to, words, count * (int)sizeof(int));
    bsp_sync(&bsp);
    EXPECT_EQ(bsp_nmsgs(&bsp), p);
    for (from = 0; from < p; ++from) {
      t_bspmsg *msg = bsp_findmsg(&bsp, from, 0);
      EXPECT_EQ(bspmsg_size(msg), count * sizeof(int));
      if (count > 0) EXPECT_EQ(((int *)bspmsg_data(msg))[count - 1], from * 1000 + s);
    }
  }
  PUB_END(bsp);
  return 0;
}
