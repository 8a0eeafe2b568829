/* Source: BSPlib 1997, appendix A, statement 2
 * Claim: After bsp_exchange each process has block j of every process, j being its pid, in the
 *   order of pids.
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(void) {
  int call, i, pid, p, me;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  for (call = 0; call < kCalls; call++) {
    int bytes = DrawBytes(p);
    unsigned char *src = NewFilledArea(call, me, p * bytes), *dst = NewArea(p * bytes);
    bsp_exchange(src, dst, bytes);
    for (pid = 0; pid < p; pid++)
      for (i = 0; i < bytes; i++)
        EXPECT_EQ(dst[pid * bytes + i], Content(call, pid, me * bytes + i));
    EXPECT(dst[p * bytes] == 0xa5);
    free(dst);
    free(src);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
