/* Source: BSPlib 1997, Superstep, statement 2
 * Source: BSPlib 1997, Introduction, statement 1
 * Claim: bsp_sync is a barrier: no process comes out before the last has gone in. (Compares clocks
 *   of different processes, so all must run on one machine.)
 */
#include <time.h>
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(void) {
  double went_in[64], out, in;
  int pid, late;
  bsp_begin(64);
  bsp_push_reg(went_in, sizeof(went_in));
  for (late = 0; late < bsp_nprocs() && late < 4; late++) {
    bsp_sync();
    if (bsp_pid() == late) usleep(20 * 1000);
    in = Now();
    bsp_sync();
    out = Now();
    for (pid = 0; pid < bsp_nprocs(); pid++)
      bsp_put(pid, &in, went_in, bsp_pid() * sizeof(in), sizeof(in));
    bsp_sync();
    for (pid = 0; pid < bsp_nprocs(); pid++) EXPECT(went_in[pid] <= out);
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
