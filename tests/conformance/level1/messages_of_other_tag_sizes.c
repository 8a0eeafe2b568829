/* Source: semantics, collectives, statement 3
 * Claim: The tag size stays what it is over collective calls, and messages sent after them arrive.
 */
#include <string.h>

#include "bsp_level1.h"

#include "level1/model.h"

int main(void) {
  int p, me, tag_bytes, status, payload, before;
  char tag[12] = "eleven char", read[12];
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  before = (me + p - 1) % p;
  tag_bytes = sizeof tag;
  bsp_set_tagsize(&tag_bytes);
  EXPECT_EQ(bsp_maxI(me), p - 1);
  bsp_send((me + 1) % p, tag, &me, sizeof me);
  bsp_sync();
  bsp_get_tag(&status, read);
  EXPECT(status == sizeof me && memcmp(tag, read, sizeof tag) == 0);
  bsp_move(&payload, sizeof payload);
  EXPECT_EQ(payload, before);
  EXPECT_EQ(bsp_minI(me), 0);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
