/* Source: BSPlib 1997, Starting and finishing, statement 3
 * Source: bsp.h, bsp_begin, statement 1
 * Claim: bsp_begin(3) gives three processes where more are available; the others leave unheard.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int available = bsp_nprocs(), wanted = available < 3 ? available : 3;
  int here[3] = {0, 0, 0}, one = 1, i;
  bsp_begin(3);
  EXPECT_EQ(bsp_nprocs(), wanted);
  EXPECT(bsp_pid() < wanted);
  bsp_push_reg(here, sizeof(here));
  bsp_sync();
  bsp_put(0, &one, here, bsp_pid() * sizeof(int), sizeof(int));
  bsp_sync();
  if (bsp_pid() == 0) {
    for (i = 0; i < wanted; i++) EXPECT_EQ(here[i], 1);
    puts("ok");
  }
  bsp_end();
  return 0;
}
