/* Source: BSPlib 1997, Registration, note 3
 * Source: BSPlib 1997, Registration, note 8
 * Source: BSPlib 1997, DRMA, statement 2
 * Source: BSPlib 1997, Put, note 1
 * Source: BSPlib 1997, Get, note 1
 * Source: bsp_get(3), note 1
 * Source: semantics, registration, statement 5
 * Claim: Communication into or from memory that has not been registered is an error when the call
 *   is made; static variables must be registered too.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 1:
 *   .*{'src' if 'get' in case else 'dst'} 0x[0-9a-f]+ is not registered.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

static int area;

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int x = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_put)) bsp_put(0, &x, &area, 0, sizeof(area));
    if (CALL(bsp_hpput)) bsp_hpput(0, &x, &area, 0, sizeof(area));
    if (CALL(bsp_get)) bsp_get(0, &area, 0, &x, sizeof(area));
    if (CALL(bsp_hpget)) bsp_hpget(0, &area, 0, &x, sizeof(area));
    puts("no error");
    fflush(stdout); /* The error is due at the call, not at the barrier. */
  }
  bsp_sync();
  bsp_end();
  return 0;
}
