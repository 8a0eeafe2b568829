/* Source: BSPlib 1997, Halt, statement 1
 * Source: BSPlib 1997, Halt, statement 4
 * Claim: bsp_abort halts the program from any place: deep in calls, with communication pending, in
 *   a late superstep.
 * Exit: 6
 * Stderr: ^deep, superstep 20$
 */
#include <string.h>

#include "bsp.h"

static int Deep(int depth, int superstep) {
  char room[100];
  memset(room, depth, sizeof(room));
  if (depth < 0) return 0; /* Never: it halts before. */
  if (depth == 0) bsp_abort("deep, superstep %d\n", superstep);
  return room[50] + Deep(depth - 1, superstep);
}

int main(void) {
  static char area[100000], data[100000];
  int superstep, next;
  bsp_begin(bsp_nprocs());
  next = (bsp_pid() + 1) % bsp_nprocs();
  bsp_push_reg(area, sizeof(area));
  for (superstep = 0;; superstep++) {
    bsp_sync();
    bsp_put(next, data, area, 0, sizeof(area));
    bsp_send(next, NULL, data, sizeof(data));
    if (superstep == 20 && bsp_pid() == bsp_nprocs() - 1) return Deep(100, superstep);
  }
}
