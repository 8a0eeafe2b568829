/* Source: BSPlib 1997, Starting and finishing, statement 4
 * Source: BSPlib 1997, Starting and finishing, statement 5
 * Claim: The paper's first program.
 * Mended: "void main" is int main with its return.
 * Stdout: Hello BSP Worldwide from process {pid} of {p}
 * Order: any
 */
#include "bsp.h"

/* clang-format off */
int main(void) {
    bsp_begin(bsp_nprocs());
    printf("Hello BSP Worldwide from process %d of %d\n",
          bsp_pid(), bsp_nprocs());
    bsp_end();
    return 0;
}
