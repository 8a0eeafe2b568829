/* Source: BSPlib 1997, Move, statement 1
 * Source: BSPlib 1997, Move, statement 2
 * Claim: bsp_move copies the payload of the first message to its argument, no byte more than it
 *   has, and advances to the next message; bsp_get_tag need not have been called.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  char payload[8];
  int n, bytes;
  bsp_begin(bsp_nprocs());
  bsp_send(bsp_pid(), NULL, "one", 3);
  bsp_send(bsp_pid(), NULL, "three", 5);
  bsp_sync();
  memset(payload, '-', sizeof(payload));
  bsp_move(payload, sizeof(payload)); /* The area is larger than the message. */
  EXPECT(memcmp(payload, "one-----", 8) == 0);
  bsp_move(payload, 5); /* It is as large. */
  EXPECT(memcmp(payload, "three---", 8) == 0);
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
