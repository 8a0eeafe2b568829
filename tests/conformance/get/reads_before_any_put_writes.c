/* Source: BSPlib 1997, DRMA, statement 6
 * Source: BSPlib 1997, DRMA, statement 9
 * Source: BSPlib 1997, Get, statement 3
 * Source: BSPlib 1997, Get, statement 4
 * Source: bsp_get(3), statement 2
 * Source: Q&A 1996, DRMA, statement 5
 * Claim: All gets are read before any put writes: each process gets the value that its neighbours'
 *   puts then overwrite, whichever comes first in the program.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x, before[64], after[64], me, p, pid;
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  x = 100 + me;
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  for (pid = 0; pid < p; pid++) bsp_get(pid, &x, 0, &before[pid], sizeof(x));
  for (pid = 0; pid < p; pid++) bsp_put(pid, &me, &x, 0, sizeof(x));
  for (pid = 0; pid < p; pid++) bsp_get(pid, &x, 0, &after[pid], sizeof(x));
  bsp_sync();
  for (pid = 0; pid < p; pid++) {
    EXPECT_EQ(before[pid], 100 + pid);
    EXPECT_EQ(after[pid], 100 + pid);
  }
  EXPECT_EQ(x, p - 1);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
