/* Source: BSPlib 1997, Enquiry, statement 4
 * Source: BSPlib 1997, Enquiry, statement 5
 * Claim: bsp_pid gives each process another value from 0 to p - 1, and it stays the same.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int me, n, size, status, seen[64] = {0};
  bsp_begin(64);
  me = bsp_pid();
  EXPECT(me >= 0 && me < bsp_nprocs());
  bsp_send(0, NULL, &me, sizeof(me));
  bsp_sync();
  EXPECT_EQ(bsp_pid(), me);
  bsp_qsize(&n, &size);
  if (me == 0) {
    EXPECT_EQ(n, bsp_nprocs());
    for (; n > 0; n--) {
      bsp_get_tag(&status, NULL);
      bsp_move(&me, sizeof(me));
      EXPECT(me >= 0 && me < bsp_nprocs());
      EXPECT_EQ(seen[me]++, 0);
    }
    puts("ok");
  }
  bsp_end();
  return 0;
}
