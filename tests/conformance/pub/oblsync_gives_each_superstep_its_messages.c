/* Source: PUB 2003, section 2.5, statement 2
 * Source: PUB 2003, section 4.2.3, statement 1
 * Source: PUB 2003, section 4.2.3, statement 2
 * Claim: The example of the paper: 0 and 1 exchange one message, 2 and 3 a hundred, then 0 sends
 *   one to 2, which gets it in the superstep after, even if it was there before.
 * Procs: 4 7 64
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int me, i, turn, word, count;
  PUB_BEGIN(argc, argv, bsp);
  me = bsp_pid(&bsp);
  for (turn = 0; turn < 50; ++turn) {
    count = me < 2 ? 1 : me < 4 ? 100 : 0;
    for (i = 0; i < count; ++i) {
      word = turn * 1000 + i;
      bsp_send(&bsp, me ^ 1, &word, sizeof word);
    }
    bsp_oblsync(&bsp, count);
    EXPECT_EQ(bsp_nmsgs(&bsp), count);
    for (i = 0; i < count; ++i) {
      EXPECT_EQ(bspmsg_src(bsp_getmsg(&bsp, i)), me ^ 1);
      EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&bsp, i)), turn * 1000 + i);
    }
    if (me == 0) bsp_send(&bsp, 2, &turn, sizeof turn);
    bsp_oblsync(&bsp, me == 2);
    EXPECT_EQ(bsp_nmsgs(&bsp), me == 2);
    if (me == 2) EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&bsp, 0)), turn);
  }
  bsp_sync(&bsp);
  PUB_END(bsp);
  return 0;
}
