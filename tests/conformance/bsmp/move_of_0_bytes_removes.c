/* Source: BSPlib 1997, Move, note 4
 * Source: semantics, messages, statement 4
 * Claim: bsp_move with reception_nbytes 0 removes the message and copies nothing; its pointer may
 *   be NULL.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  char payload = '-';
  int n, bytes;
  bsp_begin(bsp_nprocs());
  bsp_send(bsp_pid(), NULL, "a", 1);
  bsp_send(bsp_pid(), NULL, "b", 1);
  bsp_send(bsp_pid(), NULL, "c", 1);
  bsp_sync();
  bsp_move(&payload, 0);
  EXPECT_EQ(payload, '-');
  bsp_move(NULL, 0);
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 1);
  bsp_move(&payload, 1);
  EXPECT_EQ(payload, 'c');
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
