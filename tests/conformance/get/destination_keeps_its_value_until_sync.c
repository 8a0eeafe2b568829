/* Source: BSPlib 1997, Get, statement 3
 * Source: BSPlib 1997, Superstep, statement 5
 * Claim: bsp_get is buffered on destination: its destination is written at the end of the
 *   superstep; until then the process computes with the old value.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, got = -1, me, next;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  x = 100 + me;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_get(next, &x, 0, &got, sizeof(x));
  EXPECT_EQ(got, -1);
  usleep(20 * 1000);
  EXPECT_EQ(got, -1);
  got = -2;
  bsp_sync();
  EXPECT_EQ(got, 100 + next);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
