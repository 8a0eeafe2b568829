/* Source: BSPlib 1997, DRMA, statement 6
 * Source: BSPlib 1997, Superstep, statement 5
 * Source: BSPlib 1997, Put, statement 7
 * Claim: bsp_put is buffered on destination: the area is written at the end of the superstep, not
 *   before; until then its owner computes with the old value.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, me, pid;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  x = 100 + me;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  for (pid = 0; pid < bsp_nprocs(); pid++) bsp_put(pid, &me, &x, 0, sizeof(x));
  EXPECT_EQ(x, 100 + me);
  usleep(20 * 1000); /* By now the others have put. */
  EXPECT_EQ(x, 100 + me);
  bsp_sync();
  EXPECT(x >= 0 && x < bsp_nprocs());
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
