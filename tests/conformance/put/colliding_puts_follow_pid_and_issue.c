/* Source: BSPlib 1997, DRMA, statement 11
 * Source: semantics, order, statement 4
 * Claim: Where puts overlap one of them is what is read there; with us the one of the highest pid,
 *   and of one process the last.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int cell[65], me, p, i, value[2];
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  for (i = 0; i < 65; i++) cell[i] = -1;
  bsp_push_reg(cell, sizeof(cell));
  bsp_sync();
  for (i = 0; i < 3; i++) { /* Two cells each, the second of them shared with me + 1. */
    value[0] = value[1] = 10 * me + i;
    bsp_put(0, value, cell, me * sizeof(int), 2 * sizeof(int));
  }
  bsp_sync();
  if (me == 0) {
    for (i = 0; i < p; i++) EXPECT_EQ(cell[i], 10 * i + 2);
    EXPECT_EQ(cell[p], 10 * (p - 1) + 2);
  }
  bsp_sync();
  value[0] = me;
  bsp_put(p - 1, value, cell, 0, sizeof(int));
  bsp_sync();
  if (me == p - 1) EXPECT_EQ(cell[0], p - 1);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
