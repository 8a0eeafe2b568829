/* Source: BSPlib 1997, Get, statement 1
 * Claim: A get copies nbytes contiguous bytes, of any number, from and to any address, and no byte
 *   beside them.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

enum { kLargest = 70, kBytes = kLargest * (kLargest + 3) / 2 + kLargest };

int main(void) {
  static unsigned char got[kBytes], expected[kBytes], source[kLargest];
  int nbytes, i, at, next;
  bsp_begin(bsp_nprocs());
  next = (bsp_pid() + 1) % bsp_nprocs();
  for (i = 0; i < kLargest; i++) source[i] = (unsigned char)(i + 1 + bsp_pid());
  bsp_push_reg(source, sizeof(source));
  bsp_sync();
  at = 1;
  for (nbytes = 1; nbytes <= kLargest; nbytes++) { /* One byte is left out between two gets. */
    int from = nbytes % 8 <= kLargest - nbytes ? nbytes % 8 : 0;
    bsp_get(next, source, from, got + at, nbytes);
    for (i = 0; i < nbytes; i++) expected[at + i] = (unsigned char)(from + i + 1 + next);
    at += nbytes + 1;
  }
  bsp_sync();
  EXPECT(memcmp(got, expected, sizeof(got)) == 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
