/* Source: BSPlib 1997, Registration, statement 8
 * Source: BSPlib 1997, Registration, statement 10
 * Claim: From the superstep after its pop on an area is no longer registered.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 2:
 *   .*{'src' if 'get' in case else 'dst'} 0x[0-9a-f]+ is not registered.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int area = 0, x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&area, sizeof(area));
  bsp_sync();
  bsp_pop_reg(&area);
  bsp_sync();
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
