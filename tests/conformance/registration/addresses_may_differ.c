/* Source: BSPlib 1997, Registration, statement 2
 * Source: BSPlib 1997, Registration, statement 3
 * Claim: A registration relates areas that lie at another address on each process; its user names
 *   the remote one by its own.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int many[64] = {0}, *mine, me, p, next, got = -1;
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  next = (me + 1) % p;
  mine = &many[(me * 5) % 64]; /* For p <= 64 another element everywhere. */
  *mine = me;
  bsp_push_reg(mine, sizeof(int));
  bsp_sync();
  bsp_get(next, mine, 0, &got, sizeof(int));
  bsp_sync();
  EXPECT_EQ(got, next);
  bsp_put(next, &me, mine, 0, sizeof(int));
  bsp_sync();
  EXPECT_EQ(*mine, (me + p - 1) % p);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
