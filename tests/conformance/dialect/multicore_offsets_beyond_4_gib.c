/* Source: semantics, dialects, statement 1
 * Source: bsp.h, head, statement 2
 * Claim: With BSP_MULTICORE areas and offsets may be larger than 4 GiB. (The area is a mapping of
 *   which a few pages are ever touched.)
 */
#define BSP_MULTICORE
#define _GNU_SOURCE
#include <sys/mman.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  const size_t kGib = (size_t)1 << 30, size = 5 * kGib;
  static const size_t kPlaces[] = {0, 2147483644u, 3221225475u, 4294967290u, 5368709112u};
  long value, got[5][3];
  unsigned me, p, next, prev, i;
  char *area;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  next = (me + 1) % p;
  prev = (me + p - 1) % p;
  area =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(area != MAP_FAILED);
  bsp_push_reg(area, size);
  bsp_sync();
  for (i = 0; i < 5; i++) {
    value = 10 * (long)me + i;
    bsp_put(next, &value, area, kPlaces[i], sizeof(value));
  }
  bsp_sync();
  for (i = 0; i < 5; i++) {
    __builtin_memcpy(&value, area + kPlaces[i], sizeof(value));
    EXPECT_EQ(value, 10 * (long)prev + i);
    bsp_get(next, area, kPlaces[i], &got[i][0], sizeof(value));
    bsp_hpget(next, area, kPlaces[i], &got[i][1], sizeof(value));
    bsp_direct_get(next, area, kPlaces[i], &got[i][2], sizeof(value));
    EXPECT_EQ(got[i][2], 10 * (long)me + i);
  }
  bsp_sync();
  for (i = 0; i < 5; i++) {
    EXPECT_EQ(got[i][0], 10 * (long)me + i);
    EXPECT_EQ(got[i][1], 10 * (long)me + i);
  }
  value = 77;
  bsp_hpput(next, &value, area, kPlaces[3], sizeof(value));
  bsp_sync();
  __builtin_memcpy(&value, area + kPlaces[3], sizeof(value));
  EXPECT_EQ(value, 77);
  munmap(area, size);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
