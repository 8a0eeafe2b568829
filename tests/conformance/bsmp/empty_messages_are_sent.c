/* Source: BSPlib 1997, Send, note 2
 * Source: BSPlib 1997, Send, note 3
 * Source: semantics, messages, statement 1
 * Claim: A message without payload, without tag, or without both still is a message; tag and
 *   payload may be NULL where their size is 0.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, next, n, bytes, status, size = 1;
  char tag = 'a', payload = 'b';
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  bsp_send(next, NULL, NULL, 0); /* Neither. */
  bsp_send(next, &tag, &payload, 0);
  bsp_send(next, NULL, &payload, 1); /* A payload only. */
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_send(next, &tag, NULL, 0); /* A tag only. */
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 3);
  EXPECT_EQ(bytes, 1);
  bsp_get_tag(&status, NULL);
  EXPECT_EQ(status, 0);
  bsp_move(NULL, 0);
  bsp_get_tag(&status, NULL);
  EXPECT_EQ(status, 0);
  bsp_move(&payload, 1);
  EXPECT_EQ(payload, 'b');
  bsp_get_tag(&status, NULL);
  EXPECT_EQ(status, 1);
  payload = 'x';
  bsp_move(&payload, 1);
  EXPECT_EQ(payload, 'b');
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(bytes, 0);
  tag = 'x';
  bsp_get_tag(&status, &tag);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(tag, 'a');
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
