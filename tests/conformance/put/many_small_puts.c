/* Source: BSPlib 1997, Put, statement 4
 * Claim: A superstep may hold a hundred thousand puts of eight bytes, to random places.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  long *cells, value, i;
  int me, p, all, each;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  each = 100000 / p;
  all = each * p;
  cells = calloc(each, sizeof(long));
  EXPECT(cells != NULL);
  bsp_push_reg(cells, each * sizeof(long));
  bsp_sync();
  for (i = me; i < all; i += p) { /* Each cell once: 7919 divides no such `all`. */
    long place = i * 7919 % all;
    value = place + 1;
    bsp_put((int)(place / each), &value, cells, place % each * sizeof(long), sizeof(long));
  }
  bsp_sync();
  for (i = 0; i < each; i++) EXPECT_EQ(cells[i], (long)me * each + i + 1);
  bsp_pop_reg(cells);
  free(cells);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
