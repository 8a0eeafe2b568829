/* Source: BSPlib 1997, Put, note 4
 * Source: BSPlib 1997, Get, note 4
 * Source: bsp_get(3), note 4
 * Source: semantics, zero bytes, statement 1
 * Claim: A put or get of zero bytes does nothing, whatever its other arguments: no such process,
 *   NULL, an area that is not registered, any offset.
 */
#include "bsp.h"
#include "expect.h"

static void Try(int pid, int *here, int *there, int offset) {
  bsp_put(pid, here, there, offset, 0);
  bsp_hpput(pid, here, there, offset, 0);
  bsp_get(pid, there, offset, here, 0);
  bsp_hpget(pid, there, offset, here, 0);
}

int main(void) {
  int x = 1, y = 2, me, p;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  Try((me + 1) % p, &y, &x, 0);
  Try((me + 1) % p, &y, &x, 1000000);
  Try((me + 1) % p, &y, &y, 0);
  Try((me + 1) % p, NULL, NULL, 0);
  Try(me, &y, &x, -5);
  Try(-1, &y, &x, 0);
  Try(p, &y, &x, 0);
  Try(-7, NULL, NULL, -7);
  bsp_sync();
  EXPECT_EQ(x, 1);
  EXPECT_EQ(y, 2);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
