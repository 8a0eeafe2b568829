/* Source: BSPlib 1997, DRMA, statement 6
 * Claim: As the area is written at the end of the superstep, a put wins over what the target itself
 *   stores there in that superstep, however late.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int x = -1, me, next;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_put(next, &next, &x, 0, sizeof(x));
  usleep(10 * 1000);
  x = -2;
  bsp_sync();
  EXPECT_EQ(x, me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
