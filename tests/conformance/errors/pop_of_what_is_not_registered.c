/* Source: bsp.h, bsp_pop_reg, statement 1
 * Claim: It is an error to pop an address that is in no slot, or more often than it was pushed.
 * Cases: never twice null
 * Exit: 6
 * Stderr: ^bspnow: bsp_pop_reg on pid {p - 1}, superstep 1: .*(is not registered|NULL).*; .+
 */
#include <string.h>

#include "bsp.h"

#define CASE(name) (strcmp(which, #name) == 0)

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  int x = 0, y = 0;
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CASE(never)) bsp_pop_reg(&y);
    if (CASE(twice)) {
      bsp_pop_reg(&x);
      bsp_pop_reg(&x);
    }
    if (CASE(null)) bsp_pop_reg(NULL);
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
