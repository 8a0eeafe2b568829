/* Source: BSP_CHECK=full, statement 5
 * Claim: A collective call that not all processes make, or not with the same root and size, is an
 *   error that names both.
 * Procs: 2 4 7
 * Cases: size root call sync
 * Env: BSP_CHECK=full
 * Exit: 6
 * Stderr if case == 'size': ^bspnow: bsp_bcast on pid \d+, superstep \d+: calls differ: root 0,
 *   (4|8) bytes here, and bsp_bcast, root 0, (4|8) bytes on pid \d+; .+
 * Stderr if case == 'root': ^bspnow: bsp_bcast on pid \d+, superstep \d+: calls differ: root (0|1),
 *   4 bytes here, and bsp_bcast, root (0|1), 4 bytes on pid \d+; .+
 * Stderr if case == 'call': ^bspnow: bsp_(bcast|gather) on pid \d+, superstep \d+: calls differ:
 *   root 0, 4 bytes here, and bsp_(bcast|gather), root 0, 4 bytes on pid \d+; .+
 * Stderr if case == 'sync': ^bspnow: bsp_bcast on pid 0, superstep \d+: pid {p - 1} ended the
 *   superstep with another call; .+
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int x[2] = {1, 2}, y[64] = {0}, last;
  bsp_begin(bsp_nprocs());
  last = bsp_pid() == bsp_nprocs() - 1;
  bsp_bcast(0, x, y, sizeof x); /* All alike. */
  if (what[0] == 's' && what[1] == 'i') bsp_bcast(0, x, y, last ? 8 : 4);
  if (what[0] == 'r') bsp_bcast(last ? 1 : 0, x, y, 4);
  if (what[0] == 'c' && last) bsp_gather(0, x, y, 4);
  if (what[0] == 's' && last) bsp_sync();
  bsp_bcast(0, x, y, 4);
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
