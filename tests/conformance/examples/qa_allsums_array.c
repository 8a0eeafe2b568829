/* Source: Q&A 1996, programs, statement 2
 * Source: Q&A 1996, programs, statement 3
 * Claim: The program that sums n integers in blocks, by bsp_allsums2: its output is the running
 *   sums of 100 * p ones.
 * Mended: "void main" is int main with its return; "0n" is On; xs is freed.
 * Stdout: On process {pid}: {''.join('%d ' % (pid * 100 + i) for i in range(1, 101))}
 * Order: any
 */
#include <stdlib.h>

#include "bsp.h"

/* clang-format off */
int bsp_allsums2(int x) {
    int i, result,*array = calloc(bsp_nprocs(),sizeof(int));
    if (array==NULL)
        bsp_abort("Unable to allocate %d element array",bsp_nprocs());
    bsp_pushregister(array,bsp_nprocs()*sizeof(int));
    bsp_sync();

    for(i=bsp_pid();i<bsp_nprocs();i++)
        bsp_put(i,&x,array,bsp_pid()*sizeof(int),sizeof(int));
    bsp_sync();

    result = array[0];
    for(i=1;i<=bsp_pid();i++) result += array[i];
    free(array);
    bsp_popregister(array);
    return result;
}

void bsp_allsums(int *array, int n_over_p) {
    int i, last, lefts_last;
    bsp_pushregister(&last,sizeof(int));

    for (i=1;i<n_over_p;i++)
        array[i] += array[i-1];

    last = bsp_allsums2(array[n_over_p-1]);

    if (bsp_pid()==0) lefts_last=0;
    else

    bsp_get(bsp_pid()-1,&last,0,&lefts_last,sizeof(int));
    bsp_sync();

    for(i=0;i<n_over_p;i++)
        array[i] += lefts_last;

    bsp_popregister(&last);
}

int main() {
    int i,j,n_over_p,*xs;
    bsp_begin(bsp_nprocs());

    n_over_p = 100;
    xs = calloc(n_over_p,sizeof(int));
    for (i=0;i<n_over_p;i++) xs[i]=1;
    bsp_allsums(xs,n_over_p);

    for(i=0;i<bsp_nprocs();i++) {
        if (bsp_pid()==i) {
            printf("On process %d: ",bsp_pid());
            for(j=0;j<n_over_p;j++) printf("%d ",xs[j]);
            printf("\n");
            fflush(stdout);
        }
        bsp_sync();
    }

    bsp_end();
    free(xs);
    return 0;
}
