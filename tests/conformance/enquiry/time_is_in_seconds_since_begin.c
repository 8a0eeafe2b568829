/* Source: BSPlib 1997, Enquiry, statement 8
 * Claim: bsp_time gives the wall-clock seconds since bsp_begin: not those before it, and all those
 *   after it, sleeping included.
 */
#include <sys/time.h>
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

static double Now(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return now.tv_sec + 1e-6 * now.tv_usec;
}

int main(void) {
  double before, after, first, second;
  usleep(200 * 1000); /* Not to be counted. */
  before = Now();
  bsp_begin(bsp_nprocs());
  after = Now();
  first = bsp_time();
  EXPECT(first >= 0.0 && first <= Now() - before + 1e-3);
  usleep(50 * 1000);
  second = bsp_time();
  EXPECT(second - first >= 0.049);
  EXPECT(second <= Now() - before + 1e-3);
  EXPECT(second + 1e-3 >= 0.05);
  EXPECT(Now() - after + 1e-3 >= second - first);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
