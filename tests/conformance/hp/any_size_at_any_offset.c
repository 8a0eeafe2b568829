/* Source: BSPlib 1997, Put, statement 5
 * Source: BSPlib 1997, Put, statement 8
 * Source: BSPlib 1997, Get, statement 5
 * Claim: The unbuffered calls copy any number of bytes at any address too, small and large, and no
 *   byte beside them.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

static const int kSizes[] = {1, 2, 3, 5, 8, 13, 64, 65, 4095, 4096, 4097, 16385, 65537};
enum { kCount = sizeof(kSizes) / sizeof(kSizes[0]), kBytes = 110000 };

static void Check(const unsigned char *area, int salt) {
  int i, k, at = 1;
  EXPECT_EQ(area[0], 0xee);
  for (k = 0; k < kCount; k++) {
    for (i = 0; i < kSizes[k]; i++)
      if (area[at + i] != (unsigned char)(i * 7 + salt + 1)) EXPECT_EQ(k, -1);
    at += kSizes[k];
    EXPECT_EQ(area[at++], 0xee);
  }
}

int main(void) {
  static unsigned char source[65537 + 1], put[kBytes], got[kBytes];
  int me, p, next, k, i, at = 1;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  next = (me + 1) % p;
  for (i = 0; i <= 65537; i++) source[i] = (unsigned char)(i * 7 + me - 6);
  for (i = 0; i < kBytes; i++) put[i] = got[i] = 0xee;
  bsp_push_reg(source, sizeof(source));
  bsp_push_reg(put, sizeof(put));
  bsp_sync();
  for (k = 0; k < kCount; k++) {
    bsp_hpput(next, source + 1, put, at, kSizes[k]);
    bsp_hpget(next, source, 1, got + at, kSizes[k]);
    at += kSizes[k] + 1;
  }
  bsp_sync();
  Check(put, (me + p - 1) % p);
  Check(got, next);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
