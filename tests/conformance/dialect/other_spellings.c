/* Source: Q&A 1996, DRMA, statement 1
 * Source: Q&A 1996, BSMP, statement 1
 * Source: bsp.h, other spellings, statement 1
 * Claim: bsp_pushregister, bsp_popregister, bsp_set_tag_size and bsp_hput are other names of
 *   bsp_push_reg, bsp_pop_reg, bsp_set_tagsize and bsp_hpput, and may be mixed with them.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x = -1, me, p, size = 4;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  bsp_pushregister(&x, sizeof(x));
  bsp_set_tag_size(&size);
  EXPECT_EQ(size, 0);
  bsp_sync();
  bsp_hput((me + 1) % p, &me, &x, 0, sizeof(x));
  bsp_set_tagsize(&size);
  EXPECT_EQ(size, 4);
  bsp_sync();
  EXPECT_EQ(x, (me + p - 1) % p);
  bsp_pop_reg(&x);
  bsp_push_reg(&x, sizeof(x));
  bsp_popregister(&x);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
