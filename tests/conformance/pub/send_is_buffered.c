/* Source: PUB 2003, section 2.2, statement 3
 * Claim: bsp_send is buffered: what was sent may be changed at once.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static int words[50000];

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, i, turn;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (turn = 0; turn < 2; ++turn) {
    int size = turn == 0 ? 1 : 50000;
    for (i = 0; i < size; ++i) words[i] = me + i;
    bsp_send(&bsp, (me + 1) % p, words, size * (int)sizeof(int));
    for (i = 0; i < size; ++i) words[i] = -1;
    bsp_sync(&bsp);
    EXPECT_EQ(bspmsg_size(bsp_getmsg(&bsp, 0)), size * sizeof(int));
    for (i = 0; i < size; ++i)
      EXPECT_EQ(((int *)bspmsg_data(bsp_getmsg(&bsp, 0)))[i], (me + p - 1) % p + i);
  }
  PUB_END(bsp);
  return 0;
}
