/* Source: BSPlib 1997, Registration, note 5
 * Source: semantics, registration, statement 1
 * Claim: The memory area NULL is regarded as unregistered: a transfer to or from a process that
 *   registered NULL in that slot is an error.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 1: .*registered NULL.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int area = 0, x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(bsp_pid() == 0 ? NULL : &area, sizeof(area));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_put)) bsp_put(0, &x, &area, 0, sizeof(area));
    if (CALL(bsp_hpput)) bsp_hpput(0, &x, &area, 0, sizeof(area));
    if (CALL(bsp_get)) bsp_get(0, &area, 0, &x, sizeof(area));
    if (CALL(bsp_hpget)) bsp_hpget(0, &area, 0, &x, sizeof(area));
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
