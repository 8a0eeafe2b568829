/* Source: Oxford toolset, level 1, statement 7
 * Source: Oxford toolset, level 1, statement 8
 * Claim: Sum, product, least and greatest of ints, floats and doubles, of all processes and of
 *   those up to this one. (The numbers are such that no rounding occurs.)
 * Cases: free direct tree
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "bsp_level1.h"

#include "level1/model.h"

/* Of process `pid`: of both signs, and 1 or 2 as a factor. */
static int Term(int call, int pid) { return (pid * 37 + call * 11) % 101 - 50; }
static int Factor(int call, int pid) { return (pid + call) % 5 == 0 && pid < 40 ? 2 : 1; }

typedef struct {
  int sum, product, least, greatest;
} Results;

static Results Model(int call, int count) {
  Results r = {0, 1, 1000, -1000};
  int pid;
  for (pid = 0; pid < count; pid++) {
    int x = Term(call, pid);
    r.sum += x;
    r.product *= Factor(call, pid);
    if (x < r.least) r.least = x;
    if (x > r.greatest) r.greatest = x;
  }
  return r;
}

int main(void) {
  int call, me;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  for (call = 0; call < kCalls; call++) {
    Results all = Model(call, bsp_nprocs()), mine = Model(call, me + 1);
    int x = Term(call, me), factor = Factor(call, me);
    float r = (float)x;
    double d = x;
    EXPECT(bsp_sumI(x) == all.sum && bsp_sumR(r) == all.sum && bsp_sumD(d) == all.sum);
    EXPECT(bsp_minI(x) == all.least && bsp_minR(r) == all.least && bsp_minD(d) == all.least);
    EXPECT(bsp_maxI(x) == all.greatest && bsp_maxR(r) == all.greatest);
    EXPECT(bsp_maxD(d) == all.greatest);
    EXPECT(bsp_productI(factor) == all.product && bsp_productR((float)factor) == all.product);
    EXPECT(bsp_productD(factor) == all.product);
    EXPECT(bsp_sumI_prefix(x) == mine.sum && bsp_sumR_prefix(r) == mine.sum);
    EXPECT(bsp_sumD_prefix(d) == mine.sum);
    EXPECT(bsp_minI_prefix(x) == mine.least && bsp_minR_prefix(r) == mine.least);
    EXPECT(bsp_minD_prefix(d) == mine.least);
    EXPECT(bsp_maxI_prefix(x) == mine.greatest && bsp_maxR_prefix(r) == mine.greatest);
    EXPECT(bsp_maxD_prefix(d) == mine.greatest);
    EXPECT(bsp_productI_prefix(factor) == mine.product);
    EXPECT(bsp_productR_prefix((float)factor) == mine.product);
    EXPECT(bsp_productD_prefix(factor) == mine.product);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
