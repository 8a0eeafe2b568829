/* Source: BSPlib 1997, Superstep, statement 6
 * Claim: The paper's program that prints process by process, one in each superstep. (It does not
 *   promise the order of the lines.)
 * Mended: "void main" is int main with its return.
 * Stdout: Hello BSP Worldwide from process {pid} of {p}
 * Order: any
 */
#include "bsp.h"

/* clang-format off */
int main(void) {
    int i;
    bsp_begin(bsp_nprocs());
    for(i=0; i<bsp_nprocs(); i++) {
        if (bsp_pid()==i)
            printf("Hello BSP Worldwide from process %d of %d\n",
                i, bsp_nprocs());
        fflush(stdout);
        bsp_sync();
    }
    bsp_end();
    return 0;
}
