/* Source: semantics, PUB, statement 10
 * Claim: What was sent, broadcast, put or registered in an object since its last superstep is lost
 *   when it is closed, or the program ends; what is sent to an object made anew is not mixed with
 *   it, nor with what the supergroup has sent.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static int area = -1;

static void LeaveUnfinished(pbsp bsp, int value) {
  int p = bsp_nprocs(bsp), next = (bsp_pid(bsp) + 1) % p;
  bsp_push_reg(bsp, &area, sizeof area);
  bsp_sync(bsp);
  bsp_send(bsp, next, &value, sizeof value);
  bsp_gsend(bsp, 0, p - 1, &value, sizeof value);
  bsp_put(bsp, next, &value, &area, 0, sizeof value);
}

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int turn, p, me;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (turn = 0; turn < 5; ++turn) {
    bsp_send(&bsp, (me + 1) % p, &turn, sizeof turn);
    bsp_dup(&bsp, &sub);
    LeaveUnfinished(&sub, 100 + turn);
    bsp_done(&sub);
    bsp_dup(&bsp, &sub);
    bsp_sync(&sub);
    EXPECT_EQ(bsp_nmsgs(&sub), 0);
    EXPECT_EQ(area, -1);
    bsp_done(&sub);
    bsp_sync(&bsp);
    EXPECT_EQ(bsp_nmsgs(&bsp), 1);
    EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&bsp, 0)), turn);
  }
  LeaveUnfinished(&bsp, 200);
  PUB_END(bsp);
  return 0;
}
