/* Source: BSPlib 1997, DRMA, statement 3
 * Source: BSPlib 1997, Registration, statement 12
 * Claim: A registered area is named by the address of its start; an address inside it is not
 *   registered.
 * Exit: 6
 * Stderr: ^bspnow: bsp_put on pid {p - 1}, superstep 1: .*dst 0x[0-9a-f]+ is not registered.*; .+
 */
#include "bsp.h"

int main(void) {
  int area[4] = {0, 0, 0, 0}, x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) bsp_put(0, &x, &area[1], 0, sizeof(int));
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
