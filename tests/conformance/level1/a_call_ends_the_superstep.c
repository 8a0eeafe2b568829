/* Source: semantics, collectives, statement 2
 * Claim: Puts and gets issued before a collective call have taken effect when it returns, and what
 *   was pushed is registered, even where it moves nothing.
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(void) {
  int p, me, bytes, before, here = -1, got = -1, other = -1;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  before = (me + p - 1) % p;
  bsp_push_reg(&here, sizeof here);
  bsp_sync();
  for (bytes = 0; bytes < 2; bytes++) {
    char x = 'x', y = 0;
    bsp_push_reg(&other, sizeof other);
    bsp_put((me + 1) % p, &me, &here, 0, sizeof me);
    bsp_bcast(0, &x, &y, bytes);
    EXPECT_EQ(here, before);
    bsp_get(before, &here, 0, &got, sizeof got);
    bsp_put((me + 1) % p, &me, &other, 0, sizeof me);
    bsp_pop_reg(&other);
    EXPECT_EQ(bsp_sumI(1), p);
    EXPECT_EQ(got, (before + p - 1) % p);
    EXPECT_EQ(other, before);
    here = other = got = -1;
    bsp_sync();
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
