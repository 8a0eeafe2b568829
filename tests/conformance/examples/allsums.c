/* Source: bsp_get(3), statement 8
 * Claim: The manual page's program prints the running sums of 1, 2, ..., p; for four processes its
 *   four lines are those of the manual page.
 * Mended: "void main" is int main with its return.
 * Stdout: y={pid + 1} sums={(pid + 1) * (pid + 2) // 2}
 * Order: any
 */
/* clang-format off */
#include "bsp.h"
#include <stdio.h>
int bsp_allsums(int x) {
int i, left, right;
bsp_push_reg(&right,sizeof(int));
bsp_sync();
right=x;
for(i=1;i<bsp_nprocs();i*=2) {
if (bsp_pid() >= i)
bsp_get(bsp_pid()-i,&right,0,&left,sizeof(int));
bsp_sync();
if (bsp_pid()>=i) right=left+right;
}
bsp_pop_reg(&right);
return right;
}
int main() {
int y;
bsp_begin(bsp_nprocs());
y = bsp_pid()+1;
printf("y=%d sums=%d\n",y,bsp_allsums(y));
bsp_end();
return 0;
}
