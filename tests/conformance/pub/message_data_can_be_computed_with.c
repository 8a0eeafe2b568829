/* Source: PUB 2003, section 2.2, statement 7
 * Claim: A computation can work on the data of a message where it lies: it is aligned, can be
 *   changed, and stays until the next barrier.
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  double numbers[5] = {1, 2, 3, 4, 5}, *here;
  int p, me, i, k;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  bsp_send(&bsp, (me + 1) % p, "x", 1);
  for (k = 1; k <= 5; ++k) bsp_send(&bsp, (me + 1) % p, numbers, k * (int)sizeof(double));
  bsp_sync(&bsp);
  for (k = 1; k <= 5; ++k) {
    here = (double *)bspmsg_data(bsp_getmsg(&bsp, k));
    EXPECT_EQ((size_t)here % sizeof(double), 0);
    for (i = 0; i < k; ++i) here[i] *= 2;
  }
  for (k = 1; k <= 5; ++k) {
    here = (double *)bspmsg_data(bsp_getmsg(&bsp, k));
    for (i = 0; i < k; ++i) EXPECT_EQ(here[i], 2 * (i + 1));
  }
  PUB_END(bsp);
  return 0;
}
