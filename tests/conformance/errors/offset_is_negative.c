/* Source: semantics, zero bytes, statement 2
 * Source: bspnow, errors, statement 1
 * Claim: A negative offset is an error in every call that takes one.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 1: .*offset is -4.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int x[4] = {0, 0, 0, 0}, y = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_put)) bsp_put(0, &y, x, -4, 4);
    if (CALL(bsp_hpput)) bsp_hpput(0, &y, x, -4, 4);
    if (CALL(bsp_get)) bsp_get(0, x, -4, &y, 4);
    if (CALL(bsp_hpget)) bsp_hpget(0, x, -4, &y, 4);
    puts("no error");
  }
  bsp_sync();
  bsp_end();
  return 0;
}
