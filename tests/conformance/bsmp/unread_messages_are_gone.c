/* Source: BSPlib 1997, BSMP, statement 3
 * Source: BSPlib 1997, BSMP, statement 4
 * Source: semantics, messages, statement 8
 * Claim: A message can be accessed in the superstep after its own only; what is not read then is
 *   removed, be it all or a part of the queue.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, next, n, bytes, i, status;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  for (i = 0; i < 3; i++) bsp_send(next, NULL, &i, sizeof(i));
  bsp_sync();
  bsp_sync(); /* None is read. */
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(bytes, 0);
  for (i = 0; i < 3; i++) bsp_send(next, NULL, &i, sizeof(i));
  bsp_sync();
  bsp_move(&i, sizeof(i)); /* One is read; a new one is sent. */
  i = 42;
  bsp_send(next, NULL, &i, 1);
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(bytes, 1);
  i = 0;
  bsp_move(&i, 1);
  EXPECT_EQ(i, 42);
  bsp_get_tag(&status, NULL);
  EXPECT_EQ(status, -1);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
