/* Source: BSPlib 1997, BSMP, statement 9
 * Source: BSPlib 1997, Send, statement 3
 * Source: BSPlib 1997, Send, statement 4
 * Source: semantics, order, statement 1
 * Claim: bsp_send copies both tag and payload before it returns; the caller may change them at
 *   once. That holds for large payloads too.
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

enum { kLarge = 300000 };

int main(void) {
  int tag_nbytes = sizeof(int), tag, i, k, me, prev, status;
  char *payload;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  payload = malloc(kLarge);
  EXPECT(payload != NULL);
  bsp_set_tagsize(&tag_nbytes);
  bsp_sync();
  for (i = 0; i < 10; i++) {
    tag = 10 * me + i;
    memset(payload, me + i, kLarge);
    bsp_send((me + 1) % bsp_nprocs(), &tag, payload, i == 9 ? kLarge : 3 * i);
  }
  tag = -1;
  memset(payload, -1, kLarge);
  bsp_sync();
  for (i = 0; i < 10; i++) {
    bsp_get_tag(&status, &tag);
    EXPECT_EQ(tag, 10 * prev + i);
    EXPECT_EQ(status, i == 9 ? kLarge : 3 * i);
    bsp_move(payload, kLarge);
    for (k = 0; k < status; k++)
      if (payload[k] != (char)(prev + i)) EXPECT_EQ(k, -1);
  }
  free(payload);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
