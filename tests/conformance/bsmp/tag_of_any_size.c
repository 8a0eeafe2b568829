/* Source: BSPlib 1997, BSMP, statement 7
 * Source: BSPlib 1997, BSMP, statement 8
 * Source: BSPlib 1997, Tag size, statement 1
 * Source: BSPlib 1997, Tag size, statement 4
 * Source: BSPlib 1997, Get tag, statement 5
 * Claim: The tag has the size that is set, the same for all messages of a superstep, while payloads
 *   vary; in other supersteps it may be another: 0, 1, 4, 8, 9, 16, 100 bytes.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  static const int sizes[] = {0, 1, 4, 8, 9, 16, 100};
  char tag[101], got[101], payload[40];
  int me, next, prev, s, k, i, size, status;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  for (s = 0; s < 7; s++) {
    size = sizes[s];
    bsp_set_tagsize(&size);
    bsp_sync();
    for (k = 0; k < 40; k++) {
      for (i = 0; i < 101; i++) tag[i] = (char)(me + k + i);
      bsp_send(next, tag, tag + 1, k);
    }
    bsp_sync();
    for (k = 0; k < 40; k++) {
      memset(got, -1, sizeof(got));
      bsp_get_tag(&status, got);
      EXPECT_EQ(status, k);
      for (i = 0; i < sizes[s]; i++) EXPECT_EQ(got[i], (char)(prev + k + i));
      EXPECT_EQ(got[sizes[s]], -1);
      bsp_move(payload, sizeof(payload));
      for (i = 0; i < k; i++) EXPECT_EQ(payload[i], (char)(prev + k + i + 1));
    }
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
