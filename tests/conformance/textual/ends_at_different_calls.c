/* Source: BSP_CHECK=textual, statement 1
 * Claim: Processes that end a superstep at different calls of bsp_sync, or of a collective call,
 *   are an error that names both places.
 * Procs: 2 4 7
 * Cases: branches procedures collective registered
 * Env: BSP_CHECK=textual
 * Exit: 6
 * Stderr if case == 'branches': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:42|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:38|\S*\+0x\w+); .+
 * Stderr if case == 'procedures': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:49|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:26|\S*\+0x\w+); .+
 * Stderr if case == 'registered': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:67|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:63|\S*\+0x\w+); .+
 * Stderr if case == 'collective': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 ended the
 *   superstep at (\S*\.c:53|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:56|\S*\+0x\w+); .+
 */
#include "bsp_level1.h"

#include <stdio.h>

/* So that no compiler makes one call of two. */
#define APART(n) __asm__ volatile("# " #n)

static void EndSuperstep(void) {
  APART(before_1);
  bsp_sync();
  APART(after_1);
}

int main(int argc, char **argv) {
  const char what = argc > 1 ? argv[1][0] : 0;
  int x = 1, y[64], last;
  bsp_begin(bsp_nprocs());
  last = bsp_pid() == bsp_nprocs() - 1;
  bsp_sync();
  if (what == 'b' && last) {
    APART(before_2);
    bsp_sync();
    APART(after_2);
  } else if (what == 'b') {
    APART(before_3);
    bsp_sync();
    APART(after_3);
  }
  if (what == 'p' && last) {
    EndSuperstep();
  } else if (what == 'p') {
    APART(before_4);
    bsp_sync();
    APART(after_4);
  }
  if (what == 'c' && !last) {
    bsp_gather(0, &x, y, sizeof x);
  } else if (what == 'c') {
    APART(before_5);
    bsp_sync();
    APART(after_5);
  }
  if (what == 'r') {
    bsp_push_reg(y, sizeof y);
    if (last) {
      APART(before_6);
      bsp_sync();
      APART(after_6);
    } else {
      APART(before_7);
      bsp_sync();
      APART(after_7);
    }
  }
  puts("no error");
  bsp_end();
  return 0;
}
