/* Source: BSPlib 1997, Registration, note 5
 * Claim: NULL cannot be used as a registered area, not even by a process that registered it. The
 *   error says what such a process, which has nothing itself, registers to reach the others.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 1: .*is NULL, which is not registered.*;
 *   register an address here, too, of size 0 .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int area = 0, other = 0, x = 0, last;
  bsp_begin(bsp_nprocs());
  last = bsp_pid() == bsp_nprocs() - 1;
  bsp_push_reg(last ? NULL : &area, sizeof(area));
  bsp_push_reg(&other, sizeof(other));
  bsp_sync();
  if (last) {
    bsp_put(0, &x, &other, 0, sizeof(other)); /* This is right. */
    if (CALL(bsp_put)) bsp_put(0, &x, NULL, 0, sizeof(area));
    if (CALL(bsp_hpput)) bsp_hpput(0, &x, NULL, 0, sizeof(area));
    if (CALL(bsp_get)) bsp_get(0, NULL, 0, &x, sizeof(area));
    if (CALL(bsp_hpget)) bsp_hpget(0, NULL, 0, &x, sizeof(area));
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
