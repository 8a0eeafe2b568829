/* Source: BSPlib 1997, BSMP, statement 1
 * Source: BSPlib 1997, BSMP, statement 2
 * Source: BSPlib 1997, Send, statement 1
 * Source: BSPlib 1997, Send, statement 2
 * Claim: A message is in the queue of its destination at the beginning of the next superstep, with
 *   its tag and its payload, and not earlier.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int tag_nbytes = sizeof(int), me, next, prev, n, bytes, status, tag, payload[2];
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_set_tagsize(&tag_nbytes);
  bsp_sync();
  tag = 1000 + me;
  payload[0] = 2000 + me;
  payload[1] = 3000 + me;
  bsp_send(next, &tag, payload, sizeof(payload));
  usleep(10 * 1000);
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 0);
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(bytes, sizeof(payload));
  bsp_get_tag(&status, &tag);
  EXPECT_EQ(status, sizeof(payload));
  EXPECT_EQ(tag, 1000 + prev);
  bsp_move(payload, sizeof(payload));
  EXPECT_EQ(payload[0], 2000 + prev);
  EXPECT_EQ(payload[1], 3000 + prev);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
