/* Source: MulticoreBSP, calls, statement 2
 * Source: bsp.h, bsp_direct_get, statement 1
 * Claim: bsp_direct_get has its bytes when it returns; each can depend on the one before: a list
 *   that goes through all processes is followed within one superstep.
 */
#define BSP_MULTICORE
#include "bsp.h"
#include "expect.h"

typedef struct {
  unsigned next;
  int value;
} Element;

int main(void) {
  Element mine, got;
  unsigned p, hops, at;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  mine.next = (bsp_pid() + 1) % p;
  mine.value = (int)bsp_pid() * 3;
  bsp_push_reg(&mine, sizeof(mine));
  bsp_sync();
  at = bsp_pid();
  for (hops = 0; hops < p; hops++) {
    bsp_direct_get(at, &mine, 0, &got, sizeof(got));
    EXPECT_EQ(got.value, at * 3);
    bsp_direct_get(at, &mine, offsetof(Element, next), &at, sizeof(at));
    EXPECT_EQ(at, got.next);
  }
  EXPECT_EQ(at, bsp_pid());
  bsp_direct_get(p + 7, NULL, 5, &got, 0); /* Zero bytes do nothing. */
  bsp_sync();
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
