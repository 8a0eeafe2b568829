/* Source: BSPlib 1997, Put, statement 1
 * Claim: Long rows of small puts to neighbouring addresses, upwards, downwards, with gaps, and
 *   alternating between targets, each arrive where they belong.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

enum { kBytes = 2000 };

int main(void) {
  static unsigned char area[4][kBytes], expected[4][kBytes], data;
  int me, p, prev, prev2, i;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  prev = (me + p - 1) % p;
  prev2 = (me + 2 * p - 2) % p;
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  for (i = 0; i < kBytes; i++) {
    data = (unsigned char)(i * 3 + me);
    bsp_put((me + 1) % p, &data, area, i, 1);
    expected[0][i] = (unsigned char)(i * 3 + prev);
  }
  for (i = kBytes - 1; i >= 0; i--) {
    data = (unsigned char)(i * 5 + me);
    bsp_put((me + 1) % p, &data, area, kBytes + i, 1);
    expected[1][i] = (unsigned char)(i * 5 + prev);
  }
  for (i = 0; i < kBytes; i += 2) {
    data = (unsigned char)(i * 7 + me);
    bsp_put((me + 1) % p, &data, area, 2 * kBytes + i, 1);
    expected[2][i] = (unsigned char)(i * 7 + prev);
  }
  for (i = 0; i < kBytes; i++) { /* Even bytes from prev, odd ones from the one before it. */
    data = (unsigned char)(i * 11 + me);
    bsp_put((me + 1 + i % 2) % p, &data, area, 3 * kBytes + i, 1);
    expected[3][i] = (unsigned char)(i * 11 + (i % 2 == 0 ? prev : prev2));
  }
  bsp_sync();
  EXPECT(memcmp(area, expected, sizeof(area)) == 0);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
