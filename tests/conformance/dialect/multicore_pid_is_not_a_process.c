/* Source: semantics, zero bytes, statement 2
 * Source: semantics, dialects, statement 1
 * Claim: With BSP_MULTICORE too a pid outside 0..p-1 is an error, the largest unsigned included.
 * Cases: bsp_put bsp_hpput bsp_get bsp_hpget bsp_direct_get bsp_send bsp_hpsend
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid 0, superstep 1: .*pid 4294967295 is outside 0\.\.{p - 1}.*; .+
 */
#define BSP_MULTICORE
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  unsigned pid = (unsigned)-1;
  int x = 0, y = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == 0) {
    if (CALL(bsp_put)) bsp_put(pid, &y, &x, 0, sizeof(x));
    if (CALL(bsp_hpput)) bsp_hpput(pid, &y, &x, 0, sizeof(x));
    if (CALL(bsp_get)) bsp_get(pid, &x, 0, &y, sizeof(x));
    if (CALL(bsp_hpget)) bsp_hpget(pid, &x, 0, &y, sizeof(x));
    if (CALL(bsp_direct_get)) bsp_direct_get(pid, &x, 0, &y, sizeof(x));
    if (CALL(bsp_send)) bsp_send(pid, NULL, &x, sizeof(x));
    if (CALL(bsp_hpsend)) bsp_hpsend(pid, NULL, &x, sizeof(x));
    puts("no error");
  }
  bsp_sync();
  bsp_end();
  return 0;
}
