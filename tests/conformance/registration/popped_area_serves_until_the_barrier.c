/* Source: BSPlib 1997, Registration, statement 10
 * Source: BSPlib 1997, Registration, note 2
 * Source: semantics, pops, statement 1
 * Claim: A pop takes effect at the next barrier: puts and gets of the same superstep may use the
 *   area, before and after it.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int area[3], me, next, prev, got = -1;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  area[0] = area[1] = area[2] = 100 + me;
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  bsp_put(next, &me, area, 0, sizeof(int));
  bsp_pop_reg(area);
  bsp_put(next, &me, area, sizeof(int), sizeof(int));
  bsp_get(next, area, 2 * sizeof(int), &got, sizeof(int));
  bsp_sync();
  EXPECT_EQ(area[0], prev);
  EXPECT_EQ(area[1], prev);
  EXPECT_EQ(got, 100 + next);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
