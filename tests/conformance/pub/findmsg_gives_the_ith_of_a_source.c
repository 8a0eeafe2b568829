/* Source: PUB 2003, section 3.1, statement 6
 * Claim: bsp_findmsg gives the i-th message from a source, or NULL if there is none.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, to, i, word;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (to = 0; to < p; ++to) {
    for (i = 0; i < (me + to) % 3; ++i) {
      word = 100 * me + i;
      bsp_send(&bsp, to, &word, sizeof word);
    }
  }
  bsp_sync(&bsp);
  for (to = p - 1; to >= 0; --to) {
    int count = (me + to) % 3;
    for (i = count - 1; i >= 0; --i) {
      t_bspmsg *msg = bsp_findmsg(&bsp, to, i);
      EXPECT(msg != NULL);
      EXPECT_EQ(bspmsg_src(msg), to);
      EXPECT_EQ(*(int *)bspmsg_data(msg), 100 * to + i);
    }
    EXPECT(bsp_findmsg(&bsp, to, count) == NULL);
    EXPECT(bsp_findmsg(&bsp, to, 1000) == NULL);
  }
  PUB_END(bsp);
  return 0;
}
