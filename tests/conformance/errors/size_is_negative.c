/* Source: BSPlib 1997, Registration, note 7
 * Source: semantics, registration, statement 4
 * Source: semantics, zero bytes, statement 2
 * Claim: A negative size is an error in every call that takes one: of the area in bsp_push_reg, be
 *   it NULL, of the payload in bsp_send, of the reception area in bsp_move, of the tag in
 *   bsp_set_tagsize.
 * Cases: bsp_push_reg bsp_push_reg_null bsp_send bsp_move bsp_set_tagsize
 * Exit: 6
 * Stderr if case == 'bsp_send': ^bspnow: bsp_send on pid {p - 1}, superstep 1:
 *   .*payload_nbytes is -4.*; .+
 * Stderr if case == 'bsp_move': ^bspnow: bsp_move on pid {p - 1}, superstep 1:
 *   .*reception_nbytes is -4.*; .+
 * Stderr if case == 'bsp_set_tagsize': ^bspnow: bsp_set_tagsize on pid {p - 1}, superstep 1:
 *   .*tag_nbytes is -4.*; .+
 * Stderr if 'push_reg' in case: ^bspnow: bsp_push_reg on pid {p - 1}, superstep 1:
 *   .*size is -4.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int x = 0, size = -4;
  bsp_begin(bsp_nprocs());
  bsp_send(bsp_pid(), NULL, &x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (CALL(bsp_push_reg)) bsp_push_reg(&x, -4);
    if (CALL(bsp_push_reg_null)) bsp_push_reg(NULL, -4);
    if (CALL(bsp_send)) bsp_send(0, NULL, &x, -4);
    if (CALL(bsp_move)) bsp_move(&x, -4);
    if (CALL(bsp_set_tagsize)) bsp_set_tagsize(&size);
    puts("no error");
  }
  bsp_sync();
  bsp_end();
  return 0;
}
