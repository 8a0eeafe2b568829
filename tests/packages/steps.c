/* Supersteps for ten seconds, so that there is something to suspend. Each process adds up what its
 * left neighbour sends; pid 0 prints whether all of it has arrived. */
#include <bsp.h>
#include <stdio.h>

enum { kSteps = 1000 };

int main(void) {
  long from_left = 0, sum = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&from_left, sizeof from_left);
  bsp_sync();
  for (long step = 1; step <= kSteps; ++step) {
    const double until = bsp_time() + 0.01;
    bsp_put((bsp_pid() + 1) % bsp_nprocs(), &step, &from_left, 0, sizeof step);
    while (bsp_time() < until) continue;
    bsp_sync();
    sum += from_left;
  }
  if (bsp_pid() == 0) puts(sum == kSteps * (kSteps + 1L) / 2 ? "the sum is right" : "it is wrong");
  bsp_end();
  return 0;
}
