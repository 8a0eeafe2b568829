/* Source: BSPlib 1997, Registration, statement 14
 * Claim: The bound is the size that the target registered, though the caller registered more.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 1:
 *   .*offset 4 \+ 4 bytes is beyond the 4 bytes registered.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int area[2] = {0, 0}, x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, bsp_pid() == 0 ? 4 : 8);
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_put)) bsp_put(0, &x, area, 4, 4);
    if (CALL(bsp_hpput)) bsp_hpput(0, &x, area, 4, 4);
    if (CALL(bsp_get)) bsp_get(0, area, 4, &x, 4);
    if (CALL(bsp_hpget)) bsp_hpget(0, area, 4, &x, 4);
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
