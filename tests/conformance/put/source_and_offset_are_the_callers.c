/* Source: BSPlib 1997, Put, statement 2
 * Source: BSPlib 1997, Put, statement 3
 * Source: BSPlib 1997, Put, note 6
 * Source: BSPlib 1997, Registration, statement 13
 * Claim: src and offset are computed by the process that puts; offset counts bytes, from zero, from
 *   the base that the target has registered.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  char area[80], sources[64];
  int me, p, i, offset;
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  for (i = 0; i < 80; i++) area[i] = -1;
  for (i = 0; i < 64; i++) sources[i] = (char)i;
  offset = me == 0 ? 9 : 0; /* Means another place on each process. */
  bsp_push_reg(area + offset, 64);
  bsp_sync();
  bsp_put(0, &sources[me], area + offset, me, 1);
  bsp_sync();
  for (i = 0; i < 80; i++) EXPECT_EQ(area[i], me == 0 && i >= 9 && i < 9 + p ? i - 9 : -1);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
