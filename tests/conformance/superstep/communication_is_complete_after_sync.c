/* Source: BSPlib 1997, Introduction, statement 1
 * Source: BSPlib 1997, Superstep, statement 1
 * Claim: Puts, gets and messages of one superstep, buffered or not, have all taken effect when
 *   bsp_sync returns, whatever comes late.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, next, prev, n, bytes, message;
  int mine, put = -1, hpput = -1, got = -1, hpgot = -1;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  next = (me + 1) % p;
  prev = (me + p - 1) % p;
  mine = 100 + me;
  bsp_push_reg(&put, sizeof(put));
  bsp_push_reg(&hpput, sizeof(hpput));
  bsp_push_reg(&mine, sizeof(mine));
  bsp_sync();
  if (me == p - 1) usleep(20 * 1000);
  bsp_put(next, &mine, &put, 0, sizeof(put));
  bsp_hpput(next, &mine, &hpput, 0, sizeof(hpput));
  bsp_get(prev, &mine, 0, &got, sizeof(got));
  bsp_hpget(prev, &mine, 0, &hpgot, sizeof(hpgot));
  bsp_send(next, NULL, &mine, sizeof(mine));
  bsp_sync();
  EXPECT_EQ(put, 100 + prev);
  EXPECT_EQ(hpput, 100 + prev);
  EXPECT_EQ(got, 100 + prev);
  EXPECT_EQ(hpgot, 100 + prev);
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 1);
  bsp_move(&message, sizeof(message));
  EXPECT_EQ(message, 100 + prev);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
