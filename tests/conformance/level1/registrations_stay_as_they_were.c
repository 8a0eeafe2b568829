/* Source: BSPlib 1997, appendix A, statement 1
 * Source: semantics, collectives, statement 1
 * Claim: Nothing need be registered for a collective call, and what the program has registered, be
 *   it the same area, means afterwards what it meant before, however the call moves its data.
 * Cases: 8 100000 300000
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(int argc, char **argv) {
  int p, me, i, bytes = argc > 1 ? atoi(argv[1]) : 8;
  unsigned char *area;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  area = NewFilledArea(0, me, bytes + 4);
  bsp_push_reg(area, bytes + 4);
  bsp_sync();
  for (i = 0; i < 3; i++) {
    unsigned char mark = (unsigned char)(100 + me + i);
    bsp_bcast(p - 1, area, area, bytes);
    /* Beyond what the call knew of. */
    bsp_put((me + 1) % p, &mark, area, bytes + 3, 1);
    bsp_sync();
    EXPECT_EQ(area[bytes + 3], (unsigned char)(100 + (me + p - 1) % p + i));
    EXPECT_EQ(area[bytes - 1], Content(0, p - 1, bytes - 1));
  }
  bsp_pop_reg(area);
  bsp_sync();
  free(area);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
