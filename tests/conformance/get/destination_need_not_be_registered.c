/* Source: BSPlib 1997, Get, note 2
 * Source: bsp_get(3), note 2
 * Source: BSPlib 1997, Get, statement 1
 * Claim: The destination of a get need not be registered: heap, stack or static memory of the
 *   caller, at an address that it computes itself.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

static int fixed;

int main(void) {
  int x, stack[64], *heap, me, next;
  bsp_begin(64);
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  x = 100 + me;
  heap = malloc(64 * sizeof(int));
  EXPECT(heap != NULL);
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_get(next, &x, 0, &fixed, sizeof(x));
  bsp_get(next, &x, 0, &stack[me], sizeof(x));
  bsp_get(next, &x, 0, &heap[63 - me], sizeof(x));
  bsp_sync();
  EXPECT_EQ(fixed, 100 + next);
  EXPECT_EQ(stack[me], 100 + next);
  EXPECT_EQ(heap[63 - me], 100 + next);
  free(heap);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
