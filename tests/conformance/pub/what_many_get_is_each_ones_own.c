/* Source: PUB 2003, section 2.2, statement 7
 * Source: PUB 2003, section 3.1, statement 2
 * Source: PUB 2003, section 3.1, statement 3
 * Claim: Each process can compute with what bsp_gsend or bsp_lsend has sent many, and change it,
 *   and so does not change what the others get; the sender may change what it has sent at once.
 */
#include <pub.h>

#include "pub/expect_pub.h"

enum { kBytes = 100000 };

static char sent[kBytes];

static void check(t_bspmsg *msg, int value, int bytes) {
  const char *data = (const char *)bspmsg_data(msg);
  int i;
  EXPECT_EQ(bspmsg_size(msg), bytes);
  for (i = 0; i < bytes; ++i) EXPECT_EQ(data[i], value);
}

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, i, s, table[64];
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (i = 0; i < p; ++i) table[i] = p - 1 - i;
  for (s = 0; s < 4; ++s) {
    if (me == s % p) {
      memset(sent, 1, kBytes);
      bsp_gsend(&bsp, 0, p - 1, sent, kBytes);
      memset(sent, 2, kBytes);
      bsp_lsend(&bsp, table, p, sent, kBytes / 2);
      memset(sent, 3, kBytes);
    }
    bsp_sync(&bsp);
    EXPECT_EQ(bsp_nmsgs(&bsp), 2);
    for (i = 0; i < 2; ++i) {
      t_bspmsg *const msg = bsp_getmsg(&bsp, i);
      check(msg, i + 1, kBytes / (i + 1));
      memset(bspmsg_data(msg), 10 + me + i, (size_t)bspmsg_size(msg));
    }
    for (i = 0; i < 2; ++i) check(bsp_getmsg(&bsp, i), 10 + me + i, kBytes / (i + 1));
  }
  PUB_END(bsp);
  return 0;
}
