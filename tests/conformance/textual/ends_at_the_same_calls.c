/* Source: BSP_CHECK=textual, statement 2
 * Claim: Supersteps that all processes end at the same call pass, whatever way led there.
 * Cases: alone with_full
 * Env: BSP_CHECK={'textual' if case == 'alone' else 'full,textual'}
 */
#include "bsp_level1.h"

#include <stdio.h>

#include "expect.h"

static void EndSuperstep(int *counter) {
  ++*counter;
  bsp_sync();
}

int main(void) {
  int ended = 0, got = -1, x, y;
  bsp_begin(bsp_nprocs());
  const int p = bsp_nprocs(), self = bsp_pid();
  if (self % 2 == 0) {
    EndSuperstep(&ended);
  } else {
    EndSuperstep(&ended);
  }
  bsp_push_reg(&got, sizeof got);
  bsp_sync();
  for (int step = 0; step < 3; ++step) {
    bsp_put((self + 1) % p, &step, &got, 0, sizeof got);
    bsp_sync();
    EXPECT(got == step);
  }
  x = 7 + self;
  bsp_bcast(0, &x, &y, sizeof x);
  EXPECT(y == 7);
  EXPECT(bsp_maxI(self) == p - 1);
  bsp_pop_reg(&got);
  bsp_sync();
  EXPECT(ended == 1);
  if (self == 0) puts("ok");
  bsp_end();
  return 0;
}
