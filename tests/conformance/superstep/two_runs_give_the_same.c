/* Source: semantics, order, statement 4
 * Claim: The library leaves nothing to chance where the paper leaves the order open: repeating a
 *   superstep gives the same order of messages and the same winner of colliding puts, however the
 *   processes are delayed.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, turn, i, n, bytes, from, winner = -1;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  bsp_push_reg(&winner, sizeof(winner));
  bsp_sync();
  for (turn = 0; turn < 4; turn++) {
    if ((me + turn) % 4 == 0) usleep(5 * 1000);
    for (i = 0; i < p; i++) {
      bsp_put(i, &me, &winner, 0, sizeof(me));
      bsp_send(i, NULL, &me, sizeof(me));
    }
    bsp_sync();
    EXPECT_EQ(winner, p - 1);
    bsp_qsize(&n, &bytes);
    EXPECT_EQ(n, p);
    for (i = 0; i < p; i++) {
      bsp_move(&from, sizeof(from));
      EXPECT_EQ(from, i);
    }
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
