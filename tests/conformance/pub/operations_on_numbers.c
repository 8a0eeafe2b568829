/* Source: semantics, PUB, statement 3
 * Claim: There are sums, products, least and greatest elements of int, float and double.
 */
#include <pub.h>

#include "pub/expect_pub.h"

#define CHECK(T)                                                              \
  do {                                                                        \
    T mine[2], sum[2], product[2], least[2], most[2];                         \
    mine[0] = (T)(me + 1);                                                    \
    mine[1] = (T)(me % 3 == 0 ? 2 : 1);                                       \
    bsp_gallreduce(&bsp, 0, p - 1, mine, sum, 2, bspop_add##T, NULL);         \
    bsp_gallreduce(&bsp, 0, p - 1, mine + 1, product, 1, bspop_mul##T, NULL); \
    bsp_gallreduce(&bsp, 0, p - 1, mine, least, 2, bspop_min##T, NULL);       \
    bsp_gallreduce(&bsp, 0, p - 1, mine, most, 2, bspop_max##T, NULL);        \
    bsp_sync(&bsp);                                                           \
    EXPECT_EQ(sum[0], p *(p + 1) / 2);                                        \
    EXPECT_EQ(sum[1], p + (p + 2) / 3);                                       \
    EXPECT_EQ(product[0], 1 << (p + 2) / 3);                                  \
    EXPECT_EQ(least[0], 1);                                                   \
    EXPECT_EQ(least[1], p == 1 ? 2 : 1);                                      \
    EXPECT_EQ(most[0], p);                                                    \
    EXPECT_EQ(most[1], 2);                                                    \
  } while (0)

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  CHECK(int);
  CHECK(float);
  CHECK(double);
  PUB_END(bsp);
  return 0;
}
