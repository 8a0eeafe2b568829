/* Source: BSPlib 1997, Put, statement 7
 * Claim: Thanks to both buffers a process may put a part of an area over another part that overlaps
 *   it.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int x[100], i;
  bsp_begin(bsp_nprocs());
  for (i = 0; i < 100; i++) x[i] = i;
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  bsp_put(bsp_pid(), x, x, sizeof(int), 99 * sizeof(int));
  bsp_sync();
  for (i = 1; i < 100; i++) EXPECT_EQ(x[i], i - 1);
  bsp_put(bsp_pid(), x + 1, x, 0, 99 * sizeof(int));
  bsp_sync();
  for (i = 0; i < 99; i++) EXPECT_EQ(x[i], i);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
