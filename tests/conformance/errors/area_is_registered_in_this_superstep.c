/* Source: BSPlib 1997, Registration, statement 7
 * Source: BSPlib 1997, Registration, note 1
 * Source: semantics, registration, statement 5
 * Claim: An area cannot be used in the superstep in which it is pushed; the error says so.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 1: .*registered in this superstep.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int area = 0, x = 0;
  bsp_begin(bsp_nprocs());
  bsp_sync();
  bsp_push_reg(&area, sizeof(area));
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_put)) bsp_put(0, &x, &area, 0, sizeof(area));
    if (CALL(bsp_hpput)) bsp_hpput(0, &x, &area, 0, sizeof(area));
    if (CALL(bsp_get)) bsp_get(0, &area, 0, &x, sizeof(area));
    if (CALL(bsp_hpget)) bsp_hpget(0, &area, 0, &x, sizeof(area));
    puts("no error");
  }
  bsp_sync();
  bsp_end();
  return 0;
}
