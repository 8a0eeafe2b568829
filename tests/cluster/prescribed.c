/* prescribed PAIRS PAUSE_MS: pairs of supersteps whose figures a test knows beforehand. In the
 * first one every process puts 8 (pid + 1) bytes into the next one's memory, in the second nothing;
 * pid 0 computes for PAUSE_MS in that. The test finds the calls by the words beside them. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

enum { kProcessesMax = 64 };

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  int pairs = argc == 3 ? atoi(argv[1]) : 0, pause_ms = argc == 3 ? atoi(argv[2]) : 0;
  double from[kProcessesMax] = {0}, to[kProcessesMax] = {0}, sum = 0;
  int p = bsp_nprocs(), self = bsp_pid();
  bsp_push_reg(to, sizeof to);
  bsp_sync(); /* registers */
  for (int pair = 0; pair < pairs; ++pair) {
    for (int i = 0; i <= self; ++i) from[i] = pair + i;
    bsp_put((self + 1) % p, from, to, 0, (self + 1) * sizeof *from);
    bsp_sync(); /* puts */
    double until = bsp_time() + (self == 0 ? pause_ms * 1e-3 : 0);
    while (bsp_time() < until) continue;
    sum += to[0];
    bsp_sync(); /* computes */
  }
  printf("%d: %g\n", self, sum);
  bsp_end(); /* ends */
  return 0;
}
