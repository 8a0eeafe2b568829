/* Source: BSPlib 1997, Put, statement 8
 * Claim: Buffered and unbuffered calls may be mixed in a superstep as long as their areas are
 *   apart, even where these are neighbours.
 */
#include "bsp.h"
#include "expect.h"

enum { kCells = 1000 };

int main(void) {
  static int in[kCells], out[kCells], got[kCells];
  int me, p, next, prev, i;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  next = (me + 1) % p;
  prev = (me + p - 1) % p;
  for (i = 0; i < kCells; i++) out[i] = i + me;
  bsp_push_reg(in, sizeof(in));
  bsp_push_reg(out, sizeof(out));
  bsp_sync();
  for (i = 0; i < kCells; i++) {
    (i % 2 == 0 ? bsp_put : bsp_hpput)(next, &out[i], in, i * sizeof(int), sizeof(int));
    (i % 3 == 0 ? bsp_get : bsp_hpget)(next, out, i * sizeof(int), &got[i], sizeof(int));
  }
  bsp_sync();
  for (i = 0; i < kCells; i++) {
    EXPECT_EQ(in[i], i + prev);
    EXPECT_EQ(got[i], i + next);
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
