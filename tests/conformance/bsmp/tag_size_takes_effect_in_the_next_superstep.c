/* Source: BSPlib 1997, Tag size, statement 6
 * Source: BSPlib 1997, Tag size, note 1
 * Source: BSPlib 1997, Tag size, note 4
 * Source: BSPlib 1997, Send, note 1
 * Source: semantics, tag size, statement 2
 * Claim: Messages sent in the superstep of bsp_set_tagsize, before and after the call, still have
 *   tags of the old size; those of the next superstep have the new one.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  char tag[4] = {1, 2, 3, 4}, got[4];
  int size, status, i, k;
  bsp_begin(bsp_nprocs());
  size = 1;
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_send(bsp_pid(), tag, NULL, 0);
  size = 4;
  bsp_set_tagsize(&size);
  bsp_send(bsp_pid(), tag, NULL, 0);
  bsp_sync();
  bsp_send(bsp_pid(), tag, NULL, 0);
  for (k = 0; k < 2; k++) {
    for (i = 0; i < 4; i++) got[i] = -1;
    bsp_get_tag(&status, got);
    EXPECT(got[0] == 1 && got[1] == -1 && got[2] == -1 && got[3] == -1);
    bsp_move(NULL, 0);
  }
  bsp_sync();
  bsp_get_tag(&status, got);
  EXPECT(got[0] == 1 && got[1] == 2 && got[2] == 3 && got[3] == 4);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
