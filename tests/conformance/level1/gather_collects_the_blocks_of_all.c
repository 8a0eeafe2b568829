/* Source: Oxford toolset, level 1, statement 3
 * Claim: After bsp_gather the root has the blocks of all processes, in the order of pids; no other
 *   process needs an area for them.
 * Cases: free direct tree two-phase pipeline read
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(void) {
  int call, i, pid, p, me;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  for (call = 0; call < kCalls; call++) {
    int root = Draw(p), bytes = DrawBytes(p);
    unsigned char *src = NewFilledArea(call, me, bytes);
    unsigned char *dst = me == root ? NewArea(p * bytes) : NULL;
    bsp_gather(root, src, dst, bytes);
    for (pid = 0; me == root && pid < p; pid++)
      for (i = 0; i < bytes; i++) EXPECT_EQ(dst[pid * bytes + i], Content(call, pid, i));
    EXPECT(me != root || dst[p * bytes] == 0xa5);
    free(dst);
    free(src);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
