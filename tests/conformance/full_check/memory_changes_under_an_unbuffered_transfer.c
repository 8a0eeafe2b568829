/* Source: BSP_CHECK=full, statement 2
 * Claim: Source and destination of an unbuffered transfer must not change before the barrier,
 *   here or on the other process.
 * Cases: put_source put_destination get_source get_destination
 * Procs: 2 4 7
 * Env: BSP_CHECK=full
 * Exit: 6
 * Stderr: ^bspnow: bsp_hp{case[:3]} on pid 0, superstep 1: the {case[4:]} of 8 bytes on
 *   pid {int(case in ('put_destination', 'get_source'))} changed between the call
 *   at (\S*\.c:(30|31)|\S*\+0x\w+) and the end of the superstep; .+
 */
#include <string.h>

#include "bsp.h"

static char area[8], local[8];

/* For as long as pid 0 may need to make its call; no value comes twice. */
static void ChangeForAWhile(char *at) {
  double until = bsp_time() + 0.5;
  for (unsigned long count = 1; bsp_time() < until; count++) memcpy(at, &count, sizeof count);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  if (bsp_pid() == 0) {
    if (what[0] == 'p') bsp_hpput(1, local, area, 0, sizeof local);
    if (what[0] == 'g') bsp_hpget(1, area, 0, local, sizeof local);
    if (!strcmp(what, "put_source") || !strcmp(what, "get_destination")) local[0] = 1;
  }
  if (bsp_pid() == 1 && (!strcmp(what, "put_destination") || !strcmp(what, "get_source")))
    ChangeForAWhile(area);
  bsp_sync();
  bsp_sync(); /* Only one process finds the error, and ends the others. */
  if (bsp_pid() == 0) puts("no error");
  bsp_end();
  return 0;
}
