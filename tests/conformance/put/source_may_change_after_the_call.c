/* Source: BSPlib 1997, DRMA, statement 8
 * Source: BSPlib 1997, Put, statement 7
 * Source: semantics, order, statement 1
 * Claim: bsp_put is buffered on source: the bytes are those at the time of the call, and the source
 *   may be changed at once.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int area[100], source, i, me, next, prev;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  for (i = 0; i < 100; i++) {
    source = 100 * me + i;
    bsp_put(next, &source, area, i * sizeof(int), sizeof(int));
  }
  source = -1;
  bsp_sync();
  for (i = 0; i < 100; i++) EXPECT_EQ(area[i], 100 * prev + i);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
