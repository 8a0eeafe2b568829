/* Source: PUB 2003, section 2.3, statement 2
 * Claim: bsp_hpsend has the synopsis of bsp_send; if the data is left alone it arrives likewise.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static char bytes[300000];

int main(int argc, char **argv) {
  static const int sizes[] = {0, 1, 7, 4096, 300000};
  t_bsp bsp;
  int p, me, i, k;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (i = 0; i < (int)sizeof bytes; ++i) bytes[i] = (char)(me + i % 101);
  for (k = 0; k < 5; ++k) bsp_hpsend(&bsp, (me + k) % p, bytes, sizes[k]);
  bsp_sync(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), 5);
  for (k = 0; k < 5; ++k) {
    int from = ((me - k) % p + p) % p, found = 0;
    t_bspmsg *msg;
    for (i = 0; (msg = bsp_findmsg(&bsp, from, i)) != NULL; ++i) {
      char *data = (char *)bspmsg_data(msg);
      int at = sizes[k] - 1;
      if (bspmsg_size(msg) != sizes[k]) continue;
      found = 1;
      if (sizes[k] > 0) EXPECT_EQ(data[at], (char)(from + at % 101));
      if (sizes[k] > 0) EXPECT_EQ(data[at / 2], (char)(from + at / 2 % 101));
    }
    EXPECT(found);
  }
  PUB_END(bsp);
  return 0;
}
