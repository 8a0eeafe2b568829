/* Source: Green BSP, statement 1
 * Source: Green BSP, statement 2
 * Source: Green BSP, statement 3
 * Claim: A packet of 16 bytes is in the queue of its destination after the next bspSynch, and only
 *   then; bspGetPkt gives each once, and then NULL.
 */
#include <string.h>

#include "expect.h"
#include "greenbsp.h"

int main(void) {
  bspPkt packet, *got;
  int p, me, pid, count, step;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  EXPECT_EQ(sizeof(bspPkt), 16);
  EXPECT(bspGetPkt() == NULL);
  for (step = 0; step < 3; step++) {
    for (pid = 0; pid < p; pid++) {
      for (count = 0; count <= step; count++) {
        packet.integers[0] = me;
        packet.integers[1] = 1000 * step + pid;
        bspSendPkt(pid, &packet);
        memset(&packet, 0, sizeof packet);
      }
    }
    EXPECT(step > 0 || bspGetPkt() == NULL);
    bspSynch();
    for (count = 0; (got = bspGetPkt()) != NULL; count++) {
      EXPECT_EQ(got->integers[0], count / (step + 1));
      EXPECT_EQ(got->integers[1], 1000 * step + me);
      got->integers[1] = -1; /* It is this process's. */
    }
    EXPECT_EQ(count, p * (step + 1));
    EXPECT(bspGetPkt() == NULL);
  }
  packet.reals[0] = 0.25;
  bspSendPkt(me, &packet);
  bspSynch();
  bspSynch(); /* Unread packets are gone. */
  EXPECT(bspGetPkt() == NULL);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
