/* Source: BSPlib 1997, Registration, statement 11
 * Claim: There may be ten thousand slots; each is found, and can be popped in any order.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

enum { kAreas = 10000, kStep = 997 };

int main(void) {
  int *areas, me, next, prev, i, value;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  areas = calloc(kAreas, sizeof(int));
  EXPECT(areas != NULL);
  for (i = 0; i < kAreas; i++) bsp_push_reg(&areas[i], sizeof(int));
  bsp_sync();
  for (i = 0; i < kAreas; i += 7) {
    value = i + me;
    bsp_put(next, &value, &areas[i], 0, sizeof(int));
  }
  bsp_sync();
  for (i = 0; i < kAreas; i++) EXPECT_EQ(areas[i], i % 7 == 0 ? i + prev : 0);
  for (i = 0; i < kAreas - 1; i++) bsp_pop_reg(&areas[(long)i * kStep % kAreas]);
  bsp_sync();
  i = (int)((long)i * kStep % kAreas); /* The one that is left. */
  bsp_put(next, &me, &areas[i], 0, sizeof(int));
  bsp_sync();
  EXPECT_EQ(areas[i], prev);
  bsp_pop_reg(&areas[i]);
  bsp_sync();
  free(areas);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
