/* Source: BSPlib 1997, Get, statement 1
 * Claim: A get copies from the process `pid`, from the base that it has registered plus the bytes
 *   of offset that the caller computed.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  char area[80], got[64];
  int me, p, i, base;
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  base = me % 10; /* Another place on different processes. */
  for (i = 0; i < 64; i++) area[base + i] = (char)(me + i);
  bsp_push_reg(area + base, 64);
  bsp_sync();
  for (i = 0; i < p; i++) bsp_get(i, area + base, me, &got[i], 1);
  bsp_sync();
  for (i = 0; i < p; i++) EXPECT_EQ(got[i], i + me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
