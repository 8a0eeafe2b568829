/* Source: BSPlib 1997, Halt, statement 3
 * Claim: All computation ceases after bsp_abort: it does not return, and no function registered
 *   with atexit prints.
 * Exit: 6
 * Stderr: ^halt$
 */
#include <stdlib.h>

#include "bsp.h"

static void AtExit(void) {
  puts("not to be printed");
  fflush(stdout);
}

static void Halt(void) { bsp_abort("halt\n"); }

int main(void) {
  bsp_begin(bsp_nprocs());
  atexit(AtExit);
  bsp_sync();
  if (bsp_pid() == 0) Halt();
  bsp_sync();
  puts("not to be reached");
  fflush(stdout);
  bsp_end();
  return 0;
}
