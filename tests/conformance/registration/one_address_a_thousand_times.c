/* Source: BSPlib 1997, Registration, statement 5
 * Source: BSPlib 1997, Registration, statement 15
 * Claim: One address may be in a thousand slots at once: the newest counts, and after each pop the
 *   one before it.
 */
#include "bsp.h"
#include "expect.h"

enum { kSlots = 1000 };

static char area[kSlots + 1];

int main(void) {
  int next, i;
  char one = 1;
  bsp_begin(bsp_nprocs());
  next = (bsp_pid() + 1) % bsp_nprocs();
  for (i = kSlots; i > 0; i--) bsp_push_reg(area, i);
  bsp_sync();
  for (i = 1; i <= kSlots; i += 250) {
    int k;
    bsp_put(next, &one, area, i - 1, 1); /* Fits the newest slot exactly: extent i. */
    bsp_sync();
    EXPECT_EQ(area[i - 1], 1);
    for (k = 0; k < 250; k++) bsp_pop_reg(area);
    bsp_sync();
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
