/* Source: Oxford toolset, level 1, statement 9
 * Claim: Process i gets the i-th smallest of the values of all, equal ones counted singly.
 */
#include "bsp_level1.h"

#include "level1/model.h"

static int ValueOf(int call, int pid) { return (pid * 61 + call * 17) % 23 - 11; }

/* The i-th smallest of p: that which as many are below, or equal and counted. */
static int IthSmallest(int call, int p, int i) {
  int candidate, pid;
  for (candidate = -11; candidate < 12; candidate++) {
    int up_to = 0;
    for (pid = 0; pid < p; pid++) up_to += ValueOf(call, pid) <= candidate;
    if (up_to > i) break;
  }
  return candidate;
}

int main(void) {
  int call, me;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  for (call = 0; call < kCalls; call++) {
    int x = ValueOf(call, me), want = IthSmallest(call, bsp_nprocs(), me);
    EXPECT_EQ(bsp_sortI(x), want);
    EXPECT_EQ(bsp_sortC((char)(x + 64)), want + 64);
    EXPECT(bsp_sortR(x / 4.0f) == want / 4.0f);
    EXPECT(bsp_sortD(x / 3.0) == want / 3.0);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
