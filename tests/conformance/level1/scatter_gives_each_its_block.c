/* Source: Oxford toolset, level 1, statement 2
 * Claim: After bsp_scatter process i has block i of what the root has.
 * Cases: free direct tree two-phase pipeline read
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(void) {
  int call, i, p, me;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  for (call = 0; call < kCalls; call++) {
    int root = Draw(p), bytes = DrawBytes(p < 4 ? 1 : p / 2);
    unsigned char *src = me == root ? NewFilledArea(call, root, p * bytes) : NULL;
    unsigned char *dst = NewArea(bytes);
    bsp_scatter(root, src, dst, bytes);
    for (i = 0; i < bytes; i++) EXPECT_EQ(dst[i], Content(call, root, me * bytes + i));
    EXPECT(dst[bytes] == 0xa5);
    free(dst);
    free(src);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
