/* Source: semantics, order, statement 4
 * Claim: Of several gets of one process from one process to the same destination the last is
 *   written last.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x[3], got[2] = {-1, -1}, me, next;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  x[0] = 10 * me;
  x[1] = 10 * me + 1;
  x[2] = 10 * me + 2;
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  bsp_get(next, x, sizeof(int), got, 2 * sizeof(int));
  bsp_get(next, x, 0, got, sizeof(int));
  bsp_sync();
  EXPECT_EQ(got[0], 10 * next);
  EXPECT_EQ(got[1], 10 * next + 2);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
