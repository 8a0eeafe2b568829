/* Source: BSPlib 1997, Queue size, statement 4
 * Source: BSPlib 1997, Send, statement 2
 * Claim: A superstep may hold a hundred thousand messages of eight bytes, to random processes;
 *   as many arrive as were sent, and each once.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  long value, place;
  int me, p, each, all, i, n, bytes, size = sizeof(int), status, tag;
  char *seen;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  each = 100000 / p;
  all = each * p;
  seen = calloc(each, 1);
  EXPECT(seen != NULL);
  bsp_set_tagsize(&size);
  bsp_sync();
  for (i = me; i < all; i += p) { /* Each place once: 7919 divides no such `all`. */
    place = (long)i * 7919 % all;
    value = place * 3;
    tag = (int)(place % each);
    bsp_send((int)(place / each), &tag, &value, sizeof(value));
  }
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, each);
  EXPECT_EQ(bytes, each * sizeof(long));
  for (i = 0; i < n; i++) {
    bsp_get_tag(&status, &tag);
    bsp_move(&value, sizeof(value));
    EXPECT_EQ(value, 3 * ((long)me * each + tag));
    EXPECT_EQ(seen[tag]++, 0);
  }
  free(seen);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
