/* Source: design, section 6, statement 2
 * Claim: The job's exit status is the one with which process zero ends.
 * Exit: 5
 * Stdout: ended
 */
#include "bsp.h"

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(spmd, argc, argv);
  spmd();
  puts("ended");
  return 5;
}
