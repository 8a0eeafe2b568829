/* Source: BSPlib 1997, Send, statement 1
 * Claim: A message may go to any process, the sender included, and a process may receive from all
 *   in one superstep.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, pid, from, sum = 0, n, bytes, size = sizeof(int), status, payload[64];
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  bsp_set_tagsize(&size);
  bsp_sync();
  for (pid = 0; pid < p; pid++) payload[pid] = 100 * me + pid;
  for (pid = 0; pid < p; pid++) bsp_send(pid, &me, payload, (pid + 1) * sizeof(int));
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, p);
  EXPECT_EQ(bytes, p * (me + 1) * sizeof(int));
  for (; n > 0; n--) {
    bsp_get_tag(&status, &from);
    EXPECT_EQ(status, (me + 1) * sizeof(int));
    bsp_move(payload, sizeof(payload));
    EXPECT_EQ(payload[me], 100 * from + me);
    sum += from;
  }
  EXPECT_EQ(sum, p * (p - 1) / 2);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
