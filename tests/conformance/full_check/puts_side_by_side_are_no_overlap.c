/* Source: BSP_CHECK=full, statement 1
 * Claim: Puts that only touch, or that one process issued, do not overlap, and arrive as ever.
 * Env: BSP_CHECK=full
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int i, p, me, x, twice = 7, *area;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  area = calloc(p + 1, sizeof(int));
  bsp_push_reg(area, (p + 1) * sizeof(int));
  bsp_sync();
  x = 100 + me;
  for (i = 0; i < p; i++) bsp_put(i, &x, area, me * sizeof(int), sizeof(int));
  if (me == 0) { /* The same place twice: in the order of issue. */
    bsp_put(p - 1, &x, area, p * sizeof(int), sizeof(int));
    bsp_put(p - 1, &twice, area, p * sizeof(int), sizeof(int));
  }
  bsp_sync();
  for (i = 0; i < p; i++) EXPECT(area[i] == 100 + i);
  EXPECT(area[p] == (me == p - 1 ? 7 : 0));
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
