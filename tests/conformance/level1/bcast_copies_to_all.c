/* Source: Oxford toolset, level 1, statement 1
 * Claim: After bsp_bcast all processes have what the root has, of any size, by any algorithm;
 *   src and dst may be the same area.
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
    int root = Draw(p), bytes = DrawBytes(1), in_place = Draw(2);
    unsigned char *src = NewFilledArea(call, me, bytes);
    unsigned char *dst = in_place ? src : NewArea(bytes);
    bsp_bcast(root, me == root ? src : NULL, dst, bytes);
    for (i = 0; i < bytes; i++) EXPECT_EQ(dst[i], Content(call, root, i));
    EXPECT(src[bytes] == 0xa5 && dst[bytes] == 0xa5);
    if (!in_place) free(dst);
    free(src);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
