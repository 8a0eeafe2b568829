/* Source: BSPlib 1997, BSMP, statement 2
 * Source: BSPlib 1997, BSMP, statement 3
 * Claim: Messages can be read and sent on in the same superstep, superstep after superstep: each
 *   queue holds those of the previous superstep only.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, p, superstep, n, bytes, hops, i;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  hops = 0;
  bsp_send((me + 1) % p, NULL, &hops, sizeof(hops));
  for (superstep = 1; superstep <= 20; superstep++) {
    bsp_sync();
    bsp_qsize(&n, &bytes);
    EXPECT_EQ(n, superstep <= 10 ? superstep : 21 - superstep);
    for (i = 0; i < n; i++) {
      bsp_move(&hops, sizeof(hops));
      EXPECT(hops >= 0 && hops < 11);
      hops++;
      if (hops < 11) bsp_send((me + hops) % p, NULL, &hops, sizeof(hops));
    }
    hops = 0;
    if (superstep < 10) bsp_send((me + 1) % p, NULL, &hops, sizeof(hops));
  }
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 0);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
