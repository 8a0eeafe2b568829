/* Source: BSPlib 1997, Move, note 3
 * Source: semantics, messages, statement 5
 * Claim: Of a payload larger than reception_nbytes only so many bytes are copied; the rest is lost
 *   with the message.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  char payload[8];
  bsp_begin(bsp_nprocs());
  bsp_send(bsp_pid(), NULL, "abcdef", 6);
  bsp_send(bsp_pid(), NULL, "gh", 2);
  bsp_sync();
  memset(payload, '-', sizeof(payload));
  bsp_move(payload, 4);
  EXPECT(memcmp(payload, "abcd----", 8) == 0);
  bsp_move(payload, 4);
  EXPECT(memcmp(payload, "ghcd----", 8) == 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
