/* Source: BSPlib 1997, Get, note 5
 * Source: BSPlib 1997, Get, statement 4
 * Claim: Gets from a process's own memory are read before any of them is written: a rotation of an
 *   array by gets needs no second array.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x[100], i;
  bsp_begin(bsp_nprocs());
  for (i = 0; i < 100; i++) x[i] = i;
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  bsp_get(bsp_pid(), x, 0, &x[1], 99 * sizeof(int));
  bsp_get(bsp_pid(), x, 99 * sizeof(int), &x[0], sizeof(int));
  bsp_sync();
  for (i = 0; i < 100; i++) EXPECT_EQ(x[i], (i + 99) % 100);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
