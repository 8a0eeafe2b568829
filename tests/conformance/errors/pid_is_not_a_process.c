/* Source: semantics, zero bytes, statement 2
 * Source: bspnow, errors, statement 1
 * Claim: A pid outside 0..p-1, p itself included, is an error in every call that takes one.
 * Cases: bsp_put bsp_hpput bsp_hput bsp_get bsp_hpget bsp_direct_get bsp_send bsp_hpsend
 * Args: {p}
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid {p - 1}, superstep 1: .*pid {p} is outside 0\.\.{p - 1}.*; .+
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 2 ? argv[1] : "";
  int pid = argc > 2 ? atoi(argv[2]) : 0, x = 0, y = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_put)) bsp_put(pid, &y, &x, 0, sizeof(x));
    if (CALL(bsp_hpput)) bsp_hpput(pid, &y, &x, 0, sizeof(x));
    if (CALL(bsp_hput)) bsp_hput(pid, &y, &x, 0, sizeof(x));
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
