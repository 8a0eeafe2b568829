/* Source: semantics, dialects, statement 3
 * Source: bsp.h, Oxford timers, statement 1
 * Claim: bsp_dtime gives the seconds since its last call, or since bsp_begin; bsp_cputime the
 *   processor time used, which does not count waiting.
 */
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  double first, second, start, cpu;
  volatile double work = 0.0;
  int i;
  bsp_begin(bsp_nprocs());
  usleep(20 * 1000);
  start = bsp_time();
  first = bsp_dtime();
  EXPECT(first >= 0.019 && first >= start);
  second = bsp_dtime();
  EXPECT(second >= 0.0 && second < bsp_time() - start + 1e-3);
  cpu = bsp_cputime();
  start = bsp_time();
  usleep(50 * 1000);
  EXPECT(bsp_cputime() - cpu < 0.5 * (bsp_time() - start));
  EXPECT(bsp_dtime() >= 0.049);
  cpu = bsp_cputime();
  for (i = 0; i < 3000000; i++) work += i;
  EXPECT(work > 0.0 && bsp_cputime() > cpu);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
