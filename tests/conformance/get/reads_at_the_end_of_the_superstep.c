/* Source: BSPlib 1997, DRMA, statement 9
 * Source: BSPlib 1997, Get, statement 2
 * Source: bsp_get(3), statement 1
 * Claim: A get takes the value that its source has when the remote process has finished the
 *   computations of the superstep, not the one at the time of the call.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, got = -1, own = -1, me, next;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  x = 100 + me;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_get(next, &x, 0, &got, sizeof(x));
  bsp_get(me, &x, 0, &own, sizeof(x));
  usleep(10 * 1000); /* By now the others have called bsp_get. */
  x = 200 + me;
  bsp_sync();
  EXPECT_EQ(got, 200 + next);
  EXPECT_EQ(own, 200 + me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
