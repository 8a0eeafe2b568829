/* Source: BSPlib 1997, Superstep, statement 4
 * Claim: A program may have as many supersteps as it likes, empty ones and others.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, counter = 0, superstep, supersteps, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  supersteps = p > 7 ? 1000 : 10000;
  bsp_push_reg(&counter, sizeof(counter));
  bsp_sync();
  for (superstep = 0; superstep < supersteps; superstep++) {
    if (superstep % 3 == 0) {
      value = counter + 1;
      bsp_put((me + superstep) % p, &value, &counter, 0, sizeof(counter));
    }
    bsp_sync();
  }
  EXPECT_EQ(counter, (supersteps + 2) / 3);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
