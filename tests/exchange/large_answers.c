/* large_answers: pid 1 gets more from pid 0 than the memory of a superstep that is kept; the others
 * that follow are small, and after some of them neither process has much of it any more. Prints
 * "ok". */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kGetBytes = 160 << 20, kSupersteps = 8, kKeptKiB = 100 << 10 };

/* Of the memory that it shares, what this process has touched and is still there. */
static long shared_kib(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "RssShmem:", strlen("RssShmem:")) == 0)
      kib = atol(line + strlen("RssShmem:"));
  }
  if (status != NULL) fclose(status);
  return kib;
}

int main(void) {
  bsp_begin(2);
  const int self = bsp_pid();
  char *area = malloc(kGetBytes);
  memset(area, 1 + self, kGetBytes);
  bsp_push_reg(area, self == 0 ? kGetBytes : 0);
  bsp_sync();
  if (self == 1) bsp_get(0, area, 0, area, kGetBytes);
  bsp_sync();
  if (shared_kib() < kGetBytes >> 10) bsp_abort("answers are in memory that all share\n");
  for (int s = 0; s < kSupersteps; ++s) bsp_sync();
  if (area[0] != 1 || area[kGetBytes - 1] != 1) bsp_abort("pid %d: a wrong answer\n", self);
  if (shared_kib() > kKeptKiB) bsp_abort("pid %d still has %ld KiB\n", self, shared_kib());
  bsp_end();
  if (self == 0) printf("ok\n");
  return 0;
}
