/* Source: BSPlib 1997, BSMP, statement 5
 * Source: BSPlib 1997, BSMP, statement 6
 * Source: BSPlib 1997, Send, statement 5
 * Source: semantics, order, statement 4
 * Claim: The paper allows any order in the queue; ours is that of the sources' pids, and of issue
 *   among the messages of one source. Messages leave the queue in its order.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, pid, i, n, bytes, got[2], message[2];
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  for (i = 0; i < 5; i++)
    for (pid = p - 1; pid >= 0; pid--) {
      message[0] = me;
      message[1] = i;
      bsp_send(pid, NULL, message, sizeof(message));
    }
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 5 * p);
  for (pid = 0; pid < p; pid++)
    for (i = 0; i < 5; i++) {
      bsp_move(got, sizeof(got));
      EXPECT_EQ(got[0], pid);
      EXPECT_EQ(got[1], i);
    }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
