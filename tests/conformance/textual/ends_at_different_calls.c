/* Source: BSP_CHECK=textual, statement 1
 * Claim: Processes that end a superstep at different calls of bsp_sync, or of a collective call,
 *   are an error that names both places.
 * Procs: 2 4 7
 * Cases: branches procedures collective registered
 * Env: BSP_CHECK=textual
 * Exit: 6
 * Stderr if case == 'branches': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:38|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:35|\S*\+0x\w+); .+
 * Stderr if case == 'procedures': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:44|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:24|\S*\+0x\w+); .+
 * Stderr if case == 'registered': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:59|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:56|\S*\+0x\w+); .+
 * Stderr if case == 'collective': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:48|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:50|\S*\+0x\w+); .+
 */
#include "bsp_level1.h"

#include <stdio.h>

static volatile int way; /* So that no compiler makes one call of two. */

static void EndSuperstep(void) {
  bsp_sync();
  way = 1;
}

int main(int argc, char **argv) {
  const char what = argc > 1 ? argv[1][0] : 0;
  int x = 1, y[64], last;
  bsp_begin(bsp_nprocs());
  last = bsp_pid() == bsp_nprocs() - 1;
  bsp_sync();
  if (what == 'b' && last) {
    bsp_sync();
    way = 2;
  } else if (what == 'b') {
    bsp_sync();
    way = 3;
  }
  if (what == 'p' && last) {
    EndSuperstep();
  } else if (what == 'p') {
    bsp_sync();
    way = 4;
  }
  if (what == 'c' && !last) {
    bsp_gather(0, &x, y, sizeof x);
  } else if (what == 'c') {
    bsp_sync();
    way = 5;
  }
  if (what == 'r') {
    bsp_push_reg(y, sizeof y);
    if (last) {
      bsp_sync();
      way = 6;
    } else {
      bsp_sync();
      way = 7;
    }
  }
  puts("no error");
  bsp_end();
  return 0;
}
