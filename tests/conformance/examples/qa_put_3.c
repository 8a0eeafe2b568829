/* Source: Q&A 1996, DRMA, statement 4
 * Claim: Appendix A's two processes: process 0 puts 3 into the x of process 1.
 * Mended: "x := 3" is an assignment in C; process 1 declares x, where the paper prints y; the two
 *   columns are one program.
 * Procs: 2
 */
#include "bsp.h"
#include "expect.h"

static void Process0(void) {
  int x;
  bsp_pushregister(&x, sizeof(int));
  bsp_sync();
  x = 3;
  bsp_put(1, &x, &x, 0, sizeof(int));
  bsp_sync();
}

static void Process1(void) {
  int y, x = 0; /* y makes the addresses of x differ. */
  bsp_pushregister(&x, sizeof(int));
  bsp_sync();
  bsp_sync();
  y = x;
  EXPECT_EQ(y, 3);
}

int main(void) {
  bsp_begin(2);
  if (bsp_pid() == 0)
    Process0();
  else
    Process1();
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
