/* Source: PUB 2003, section 3.1, statement 2
 * Source: PUB 2003, section 3.1, statement 3
 * Source: PUB 2003, section 3.1, statement 11
 * Claim: bsp_gsend sends to first, ..., last, bsp_lsend to table[0], ..., table[n-1], and so do
 *   their unbuffered variants; what arrives is a message of the sender.
 * Cases: buffered unbuffered
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, i, first, last, n, table[64];
  int unbuffered = argc > 1 && argv[1][0] == 'u';
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  first = me / 2; /* Process q sends to the range q/2..q, then to all multiples of q + 1. */
  last = me;
  for (n = 0, i = p - 1; i >= 0; --i)
    if (i % (me + 1) == 0) table[n++] = i;
  if (unbuffered) {
    bsp_hpgsend(&bsp, first, last, &me, sizeof me);
    bsp_hplsend(&bsp, table, n, &p, sizeof p);
    bsp_hplsend(&bsp, table, 0, &p, sizeof p);
  } else {
    bsp_gsend(&bsp, first, last, &me, sizeof me);
    bsp_lsend(&bsp, table, n, &p, sizeof p);
    bsp_lsend(&bsp, NULL, 0, &p, sizeof p);
  }
  bsp_sync(&bsp);
  for (i = 0; i < p; ++i) {
    int in_range = i / 2 <= me && me <= i, in_list = me % (i + 1) == 0;
    if (in_range) EXPECT_EQ(*(int *)bspmsg_data(bsp_findmsg(&bsp, i, 0)), i);
    if (in_list) EXPECT_EQ(*(int *)bspmsg_data(bsp_findmsg(&bsp, i, in_range)), p);
    EXPECT(bsp_findmsg(&bsp, i, in_range + in_list) == NULL);
  }
  PUB_END(bsp);
  return 0;
}
