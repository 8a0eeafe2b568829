/* Source: BSPlib 1997, Queue size, statement 1
 * Source: BSPlib 1997, Queue size, statement 2
 * Source: BSPlib 1997, Queue size, statement 4
 * Claim: Before the first bsp_move, bsp_qsize gives the number of messages sent to this process in
 *   the previous superstep and the sum of their payloads, without the tags; asking changes nothing.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, pid, i, n, bytes, size = 4, sent, sum;
  char data[64 + 4] = {0};
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(bytes, 0);
  bsp_set_tagsize(&size);
  bsp_sync();
  for (pid = 0; pid < p; pid++)
    for (i = 0; i < (me + pid) % 4; i++) bsp_send(pid, data, data, pid + i);
  bsp_sync();
  sent = sum = 0;
  for (pid = 0; pid < p; pid++)
    for (i = 0; i < (me + pid) % 4; i++) {
      sent++;
      sum += me + i;
    }
  for (i = 0; i < 2; i++) {
    bsp_qsize(&n, &bytes);
    EXPECT_EQ(n, sent);
    EXPECT_EQ(bytes, sum);
  }
  bsp_qsize(&n, NULL); /* The sum need not be asked for. */
  EXPECT_EQ(n, sent);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
