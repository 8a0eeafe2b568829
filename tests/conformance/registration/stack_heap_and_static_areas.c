/* Source: BSPlib 1997, DRMA, statement 1
 * Source: BSPlib 1997, DRMA, statement 3
 * Claim: Any contiguous data structure can be registered and then be put to and got from: on the
 *   stack, on the heap, static.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

static int fixed[2];

int main(void) {
  int me, next, prev, i, stack[2], got[3];
  int *heap, *areas[3];
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  heap = malloc(2 * sizeof(int));
  EXPECT(heap != NULL);
  areas[0] = stack;
  areas[1] = heap;
  areas[2] = fixed;
  for (i = 0; i < 3; i++) {
    areas[i][0] = 10 * me + i;
    areas[i][1] = -1;
    bsp_push_reg(areas[i], 2 * sizeof(int));
  }
  bsp_sync();
  for (i = 0; i < 3; i++) {
    bsp_get(next, areas[i], 0, &got[i], sizeof(int));
    bsp_put(next, &areas[i][0], areas[i], sizeof(int), sizeof(int));
  }
  bsp_sync();
  for (i = 0; i < 3; i++) {
    EXPECT_EQ(got[i], 10 * next + i);
    EXPECT_EQ(areas[i][0], 10 * me + i);
    EXPECT_EQ(areas[i][1], 10 * prev + i);
  }
  free(heap);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
