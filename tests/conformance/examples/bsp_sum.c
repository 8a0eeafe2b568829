/* Source: BSPlib 1997, Get, statement 7
 * Source: bsp_get(3), statement 5
 * Claim: The paper's bsp_sum gives all processes the sum of all elements of all their arrays, which
 *   may differ in length.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

/* clang-format off */
int bsp_sum(int *xs, int nelem) {
    int *local_sums,i,j,result=0;
    for(j=0;j<nelem;j++) result += xs[j];
    bsp_push_reg(&result,sizeof(int));
    bsp_sync();

    local_sums = calloc(bsp_nprocs(),sizeof(int));
    if (local_sums==NULL)
        bsp_abort("{bsp_sum} no memory for %d int",bsp_nprocs());
    for(i=0;i<bsp_nprocs();i++)
        bsp_hpget(i,&result,0,&local_sums[i],sizeof(int));
    bsp_sync();

    result=0;
    for(i=0;i<bsp_nprocs();i++) result += local_sums[i];
    bsp_pop_reg(&result);
    free(local_sums);
    return result;
}
/* clang-format on */

int main(void) {
  int xs[64], me, p, i, sum = 0, pid;
  bsp_begin(64);
  me = bsp_pid();
  p = bsp_nprocs();
  for (i = 0; i < me; i++) xs[i] = 10 * me + i; /* Process zero has no element. */
  for (pid = 0; pid < p; pid++)
    for (i = 0; i < pid; i++) sum += 10 * pid + i;
  EXPECT_EQ(bsp_sum(xs, me), sum);
  EXPECT_EQ(bsp_sum(&me, 1), p * (p - 1) / 2);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
