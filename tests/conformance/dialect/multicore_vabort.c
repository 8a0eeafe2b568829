/* Source: MulticoreBSP, calls, statement 4
 * Claim: bsp_vabort halts as bsp_abort does, with the arguments in a va_list.
 * Exit: 6
 * Stderr: ^3 of 4 things are wrong$
 */
#define BSP_MULTICORE
#include "bsp.h"

static void Complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  bsp_vabort(format, args);
}

int main(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) Complain("%d of %d things are %s\n", 3, 4, "wrong");
  bsp_end();
  return 0;
}
