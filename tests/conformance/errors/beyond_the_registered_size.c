/* Source: BSPlib 1997, Registration, statement 1
 * Source: BSPlib 1997, Registration, statement 14
 * Source: BSPlib 1997, Put, note 3
 * Source: BSPlib 1997, Get, note 3
 * Source: bsp_get(3), note 3
 * Claim: It is a bounds error if offset + nbytes is more than the size registered.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 2:
 *   .*offset 8 \+ 8 bytes is beyond the 12 bytes registered.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  char area[20] = "", x[8] = "";
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, 12);
  bsp_sync();
  bsp_put(0, x, area, 4, 8); /* Just within. */
  bsp_get(0, area, 4, x, 8);
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_put)) bsp_put(0, x, area, 8, 8);
    if (CALL(bsp_hpput)) bsp_hpput(0, x, area, 8, 8);
    if (CALL(bsp_get)) bsp_get(0, area, 8, x, 8);
    if (CALL(bsp_hpget)) bsp_hpget(0, area, 8, x, 8);
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
