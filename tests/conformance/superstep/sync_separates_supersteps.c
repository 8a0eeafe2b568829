/* Source: BSPlib 1997, Superstep, statement 4
 * Claim: bsp_sync ends one superstep and starts the next: what was communicated in one is the data
 *   on which the next computes, and it is not communicated again.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, token, superstep;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  token = me;
  bsp_push_reg(&token, sizeof(token));
  bsp_sync();
  for (superstep = 1; superstep <= p; superstep++) { /* All tokens go once round the ring. */
    bsp_put((me + 1) % p, &token, &token, 0, sizeof(token));
    bsp_sync();
    EXPECT_EQ(token, (me + p - superstep % p) % p);
  }
  token = -1;
  bsp_sync();
  bsp_sync();
  EXPECT_EQ(token, -1);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
