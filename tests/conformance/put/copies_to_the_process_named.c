/* Source: BSPlib 1997, Put, statement 1
 * Source: BSPlib 1997, Put, note 6
 * Claim: A put stores on the process `pid`, numbered from zero, and on no other.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int received[64], me, p, pid, value;
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  for (pid = 0; pid < 64; pid++) received[pid] = -1;
  bsp_push_reg(received, sizeof(received));
  bsp_sync();
  for (pid = 0; pid < p; pid++) {
    if ((me + pid) % 3 == 0) continue;
    value = 100 * me + pid;
    bsp_put(pid, &value, received, me * sizeof(int), sizeof(int));
  }
  bsp_sync();
  for (pid = 0; pid < 64; pid++)
    EXPECT_EQ(received[pid], pid >= p || (me + pid) % 3 == 0 ? -1 : 100 * pid + me);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
