/* Source: BSPlib 1997, hpmove, statement 6
 * Source: semantics, messages, statement 6
 * Claim: What bsp_hpmove points at stays until the end of the superstep, though later messages are
 *   moved and new ones are sent, by this process and to it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

enum { kMessages = 1000 };

int main(void) {
  int *tags[kMessages], *payloads[kMessages], me, next, prev, i, n, size = sizeof(int);
  void *tag, *payload;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_set_tagsize(&size);
  bsp_sync();
  for (i = 0; i < kMessages; i++) {
    n = 1000 * me + i;
    bsp_send(next, &i, &n, sizeof(n));
  }
  bsp_sync();
  for (i = 0; i < kMessages; i++) {
    EXPECT_EQ(bsp_hpmove(&tag, &payload), sizeof(int));
    tags[i] = tag;
    payloads[i] = payload;
  }
  for (i = 0, n = -1; i < 2 * kMessages; i++) bsp_send(next, &n, &n, sizeof(n));
  usleep(10 * 1000);
  for (i = 0; i < kMessages; i++) {
    EXPECT_EQ(*tags[i], i);
    EXPECT_EQ(*payloads[i], 1000 * prev + i);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
