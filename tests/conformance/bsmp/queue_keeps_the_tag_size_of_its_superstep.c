/* Source: BSPlib 1997, Tag size, note 2
 * Source: semantics, tag size, statement 3
 * Source: Q&A 1996, BSMP, statement 3
 * Claim: The tags of the messages in the queue have the size that was valid when they were sent,
 *   though another is valid, or has been set, when they are read.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  char tag[8] = "abcdefg", got[9];
  void *tag_ptr, *payload_ptr;
  int size, status;
  bsp_begin(bsp_nprocs());
  size = 3;
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_send(bsp_pid(), tag, "x", 1);
  bsp_send(bsp_pid(), tag + 1, "y", 1);
  size = 8;
  bsp_set_tagsize(&size); /* Valid when the messages are read. */
  bsp_sync();
  size = 1;
  bsp_set_tagsize(&size); /* Set while they are read. */
  memset(got, '-', sizeof(got));
  bsp_get_tag(&status, got);
  EXPECT(memcmp(got, "abc------", 9) == 0);
  bsp_move(got, 1);
  EXPECT_EQ(got[0], 'x');
  EXPECT_EQ(bsp_hpmove(&tag_ptr, &payload_ptr), 1);
  EXPECT(memcmp(tag_ptr, "bcd", 3) == 0);
  EXPECT_EQ(*(char *)payload_ptr, 'y');
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
