/* Source: Q&A 1996, programs, statement 1
 * Claim: bsp_allsums1 computes the prefix sums of one integer a process in about log p supersteps.
 */
#include "bsp.h"
#include "expect.h"

/* clang-format off */
int bsp_allsums1(int x) {
    int i, left, right;
    bsp_pushregister(&left, sizeof(int));
    bsp_sync();

    right = x;
    for(i=1; i<bsp_nprocs(); i*=2) {
        if (bsp_pid()+i < bsp_nprocs())
            bsp_put(bsp_pid()+i, &right, &left, 0, sizeof(int));
        bsp_sync();
        if (bsp_pid()>=i) right = left + right;
    }
    bsp_popregister(&left);
    return right;
}
/* clang-format on */

int main(void) {
  int me;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  EXPECT_EQ(bsp_allsums1(me + 1), (me + 1) * (me + 2) / 2);
  EXPECT_EQ(bsp_allsums1(1), me + 1);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
