/* Source: design, section 6, statement 2
 * Claim: Where another process than zero ends with a non-zero status after bsp_end, that is the
 *   job's.
 * Procs: 2 4 7 64
 * Exit: 9
 * Stdout: ended
 */
#include "bsp.h"

int main(void) {
  int me;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  if (me == 0) puts("ended");
  bsp_end();
  return me == 1 ? 9 : 0;
}
