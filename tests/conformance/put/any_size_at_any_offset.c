/* Source: BSPlib 1997, Put, statement 4
 * Source: BSPlib 1997, Put, statement 5
 * Source: BSPlib 1997, Put, statement 6
 * Claim: Like memcpy, a put copies bytes into contiguous bytes: any number, from and to any
 *   address, multiples of a word or not, and no byte beside them.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

enum { kLargest = 70, kBytes = kLargest * (kLargest + 3) / 2 + kLargest };

int main(void) {
  static unsigned char target[kBytes], expected[kBytes], source[kLargest];
  int nbytes, i, at, prev, p;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  prev = (bsp_pid() + p - 1) % p;
  for (i = 0; i < kLargest; i++) source[i] = (unsigned char)(i + 1 + bsp_pid());
  bsp_push_reg(target, sizeof(target));
  bsp_sync();
  at = 1;
  for (nbytes = 1; nbytes <= kLargest; nbytes++) { /* One byte is left out between two puts. */
    int from = nbytes % 8 <= kLargest - nbytes ? nbytes % 8 : 0;
    bsp_put((bsp_pid() + 1) % p, source + from, target, at, nbytes);
    for (i = 0; i < nbytes; i++) expected[at + i] = (unsigned char)(from + i + 1 + prev);
    at += nbytes + 1;
  }
  bsp_sync();
  EXPECT(memcmp(target, expected, sizeof(target)) == 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
