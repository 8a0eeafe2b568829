/* Source: BSPlib 1997, Registration, statement 3
 * Source: BSPlib 1997, Registration, statement 14
 * Source: semantics, registration, statement 2
 * Claim: Each process registers its own extent, and what counts is the extent at the target: more
 *   than the caller has registered itself can be put and got there.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int area[8] = {0}, got[8], data[8], me, last, i;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  last = bsp_nprocs() - 1;
  bsp_push_reg(area, me == last ? sizeof(area) : sizeof(int));
  bsp_sync();
  if (me == 0) {
    for (i = 0; i < 8; i++) data[i] = 10 + i;
    bsp_put(last, data, area, 0, sizeof(area));
  }
  bsp_sync();
  bsp_get(last, area, sizeof(int), got, 7 * sizeof(int));
  bsp_sync();
  for (i = 0; i < 7; i++) EXPECT_EQ(got[i], 11 + i);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
