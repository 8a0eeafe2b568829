/* Source: semantics, dialects, statement 7
 * Claim: In MulticoreBSP's dialect what was issued since the last bsp_sync takes effect in bsp_end,
 *   as it would in bsp_sync.
 */
#include "expect.h"
#include "mcbsp.h"

int main(void) {
  unsigned area = 0, got = 0, value, p, me;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  value = me + 1;
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  bsp_get((me + 1) % p, &area, 0, &got, sizeof got);
  bsp_put((me + 1) % p, &value, &area, 0, sizeof value);
  got = 7;
  bsp_end();
  EXPECT_EQ(area, (me + p - 1) % p + 1);
  EXPECT_EQ(got, 0);
  if (me == 0) puts("ok");
  return 0;
}
