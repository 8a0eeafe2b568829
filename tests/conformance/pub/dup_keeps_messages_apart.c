/* Source: PUB 2003, section 4.1.2, statement 1
 * Source: PUB 2003, section 4.1.2, statement 2
 * Claim: A procedure that begins with bsp_dup and ends with bsp_done takes none of its caller's
 *   messages: those that were sent before it are available after the first barrier after it.
 */
#include <pub.h>

#include "pub/expect_pub.h"

/* Of a library: it knows nothing of what its caller has sent. */
static int SumOfPids(pbsp bsp) {
  t_bsp own;
  int i, me, sum = 0;
  bsp_dup(bsp, &own);
  me = bsp_pid(&own);
  bsp_gsend(&own, 0, bsp_nprocs(&own) - 1, &me, sizeof me);
  bsp_sync(&own);
  EXPECT_EQ(bsp_nmsgs(&own), bsp_nprocs(&own));
  for (i = 0; i < bsp_nmsgs(&own); ++i) sum += *(int *)bspmsg_data(bsp_getmsg(&own, i));
  bsp_send(&own, 0, &me, sizeof me); /* Nobody gets it: no barrier follows. */
  bsp_done(&own);
  return sum;
}

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, turn;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (turn = 0; turn < 3; ++turn) {
    bsp_send(&bsp, (me + 1) % p, &me, sizeof me);
    EXPECT_EQ(SumOfPids(&bsp), p * (p - 1) / 2);
    EXPECT_EQ(bsp_nmsgs(&bsp), turn == 0 ? 0 : 1);
    bsp_sync(&bsp);
    EXPECT_EQ(bsp_nmsgs(&bsp), 1);
    EXPECT_EQ(bspmsg_src(bsp_getmsg(&bsp, 0)), (me + p - 1) % p);
  }
  PUB_END(bsp);
  return 0;
}
