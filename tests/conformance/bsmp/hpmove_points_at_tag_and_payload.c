/* Source: BSPlib 1997, hpmove, statement 1
 * Source: BSPlib 1997, hpmove, statement 2
 * Source: BSPlib 1997, hpmove, statement 3
 * Source: BSPlib 1997, hpmove, statement 4
 * Source: semantics, messages, statement 6
 * Claim: bsp_hpmove returns the length of the first message's payload, points at its tag and its
 *   payload, and removes it; on an empty queue it returns -1. It can be mixed with bsp_move.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  void *tag, *payload;
  char copy[3];
  int size = 2, n, bytes;
  bsp_begin(bsp_nprocs());
  EXPECT_EQ(bsp_hpmove(&tag, &payload), -1);
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_send(bsp_pid(), "t1", "first", 5);
  bsp_send(bsp_pid(), "t2", "abc", 3);
  bsp_send(bsp_pid(), "t3", NULL, 0);
  bsp_sync();
  EXPECT_EQ(bsp_hpmove(&tag, &payload), 5);
  EXPECT(memcmp(tag, "t1", 2) == 0 && memcmp(payload, "first", 5) == 0);
  bsp_move(copy, 3);
  EXPECT(memcmp(copy, "abc", 3) == 0);
  EXPECT_EQ(bsp_hpmove(&tag, &payload), 0);
  EXPECT(memcmp(tag, "t3", 2) == 0);
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(bsp_hpmove(&tag, &payload), -1);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
