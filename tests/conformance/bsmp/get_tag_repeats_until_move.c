/* Source: BSPlib 1997, Move, statement 3
 * Source: BSPlib 1997, Move, statement 4
 * Source: BSPlib 1997, Move, note 2
 * Claim: bsp_get_tag does not remove the message: it gives the same tag until bsp_move is called,
 *   which one must do to get at the next tag.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int i, k, size = sizeof(int), status, tag, payload;
  bsp_begin(bsp_nprocs());
  bsp_set_tagsize(&size);
  bsp_sync();
  for (i = 0; i < 3; i++) {
    tag = 10 + i;
    bsp_send(bsp_pid(), &tag, &i, sizeof(i));
  }
  bsp_sync();
  for (i = 0; i < 3; i++) {
    for (k = 0; k < 4; k++) {
      tag = -1;
      bsp_get_tag(&status, &tag);
      EXPECT_EQ(tag, 10 + i);
      EXPECT_EQ(status, sizeof(int));
    }
    bsp_move(&payload, sizeof(payload));
    EXPECT_EQ(payload, i);
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
