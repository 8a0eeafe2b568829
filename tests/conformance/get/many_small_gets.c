/* Source: BSPlib 1997, Get, statement 1
 * Claim: A superstep may hold a hundred thousand gets of eight bytes, from random places, and all
 *   processes may get from one.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  long *cells, *got, i;
  int me, p, each, all;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  each = 100000 / p;
  all = each * p;
  cells = malloc(each * sizeof(long));
  got = calloc(each, sizeof(long));
  EXPECT(cells != NULL && got != NULL);
  for (i = 0; i < each; i++) cells[i] = (long)me * each + i;
  bsp_push_reg(cells, each * sizeof(long));
  bsp_sync();
  for (i = 0; i < each; i++) {
    long place = ((long)me * each + i) * 7919 % all;
    bsp_get((int)(place / each), cells, place % each * sizeof(long), &got[i], sizeof(long));
  }
  bsp_sync();
  for (i = 0; i < each; i++) EXPECT_EQ(got[i], ((long)me * each + i) * 7919 % all);
  for (i = 0; i < each && i < 1000; i++)
    bsp_get(p - 1, cells, i * sizeof(long), &got[i], sizeof(long));
  bsp_sync();
  for (i = 0; i < each && i < 1000; i++) EXPECT_EQ(got[i], (long)(p - 1) * each + i);
  bsp_pop_reg(cells);
  free(cells);
  free(got);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
