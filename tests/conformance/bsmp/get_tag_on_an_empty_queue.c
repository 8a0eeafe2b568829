/* Source: BSPlib 1997, Get tag, statement 1
 * Source: BSPlib 1997, Get tag, statement 3
 * Source: semantics, messages, statement 2
 * Claim: On an empty queue bsp_get_tag gives -1 and leaves the tag alone: at the start, when no
 *   message has come, and when all have been moved.
 */
#include "bsp.h"
#include "expect.h"

static void ExpectEmpty(void) {
  int status = 7, tag = 8;
  bsp_get_tag(&status, &tag);
  EXPECT_EQ(status, -1);
  EXPECT_EQ(tag, 8);
}

int main(void) {
  int size = sizeof(int), value = 1;
  bsp_begin(bsp_nprocs());
  ExpectEmpty();
  bsp_set_tagsize(&size);
  bsp_sync();
  ExpectEmpty();
  bsp_send(bsp_pid(), &value, &value, sizeof(value));
  ExpectEmpty();
  bsp_sync();
  bsp_move(&value, sizeof(value));
  ExpectEmpty();
  bsp_sync();
  ExpectEmpty();
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
