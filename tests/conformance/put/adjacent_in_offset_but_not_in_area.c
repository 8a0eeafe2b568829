/* Source: BSPlib 1997, Registration, statement 13
 * Claim: Two puts whose offsets follow each other, but which name different areas, or the same area
 *   by different slots, go to the areas that they name.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int a[4] = {0, 0, 0, 0}, b[4] = {0, 0, 0, 0}, me, next, i, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  bsp_push_reg(a, sizeof(a));
  bsp_push_reg(b, sizeof(b));
  bsp_push_reg(a + 2, 2 * sizeof(int));
  bsp_sync();
  for (i = 0; i < 4; i++) {
    value = i + 1;
    bsp_put(next, &value, i % 2 == 0 ? a : b, i * sizeof(int), sizeof(int));
  }
  value = 5;
  bsp_put(next, &value, a + 2, sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT(a[0] == 1 && a[1] == 0 && a[2] == 3 && a[3] == 5);
  EXPECT(b[0] == 0 && b[1] == 2 && b[2] == 0 && b[3] == 4);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
