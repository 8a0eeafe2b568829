/* Source: BSPlib 1997, Registration, note 4
 * Claim: Registration is a property of the memory, not of the pointer with which it was made: any
 *   pointer to it serves, of any type.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int area[2] = {-1, -1}, me, next, prev, got = -1;
  char *as_char;
  void *as_void;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  as_char = (char *)&area[1] - sizeof(int);
  as_void = &area[0];
  bsp_put(next, &me, as_char, 0, sizeof(int));
  bsp_sync();
  bsp_get(prev, as_void, 0, &got, sizeof(int));
  bsp_sync();
  EXPECT_EQ(area[0], prev);
  EXPECT_EQ(got, (prev + bsp_nprocs() - 1) % bsp_nprocs());
  bsp_pop_reg(as_char);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
