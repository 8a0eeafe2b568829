/* Source: BSPlib 1997, Get tag, statement 2
 * Source: BSPlib 1997, Get tag, statement 4
 * Source: BSPlib 1997, Move, note 1
 * Claim: bsp_get_tag gives the length of the first message's payload, in bytes, and its tag.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int i, me, next, prev, status, size = sizeof(double);
  double tag;
  char *payload;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  payload = calloc(5000, 1);
  EXPECT(payload != NULL);
  bsp_set_tagsize(&size);
  bsp_sync();
  for (i = 0; i < 5000; i += 499) {
    tag = me + i / 1024.0;
    bsp_send(next, &tag, payload, i);
  }
  bsp_sync();
  for (i = 0; i < 5000; i += 499) {
    bsp_get_tag(&status, &tag);
    EXPECT_EQ(status, i);
    EXPECT(tag == prev + i / 1024.0);
    bsp_move(payload, status);
  }
  free(payload);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
