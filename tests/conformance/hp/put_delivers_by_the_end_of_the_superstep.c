/* Source: BSPlib 1997, Put, statement 8
 * Source: BSPlib 1997, DRMA, statement 7
 * Source: BSPlib 1997, DRMA, statement 10
 * Source: bsp.h, other spellings, statement 1
 * Claim: bsp_hpput, which the paper also spells bsp_hput, has delivered when bsp_sync returns if
 *   nobody touches source and destination during the superstep.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int in[2] = {-1, -1}, out, me, next, prev;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  out = 100 + me;
  bsp_push_reg(in, sizeof(in));
  bsp_sync();
  bsp_hpput(next, &out, in, 0, sizeof(int));
  bsp_hput(next, &out, in, sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT_EQ(in[0], 100 + prev);
  EXPECT_EQ(in[1], 100 + prev);
  EXPECT_EQ(out, 100 + me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
