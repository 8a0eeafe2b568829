/* Source: semantics, collectives, statement 5
 * Claim: A root that is no process, a negative size, NULL for an area that is used, no operation,
 *   and a variable of the environment that is not understood are errors.
 * Cases: root size src dst op early machine algorithm
 * Env if case == 'machine': BSP_MACHINE=fast
 * Env if case == 'algorithm': BSP_COLLECTIVES=best
 * Exit: 6
 * Stderr if case == 'root': ^bspnow: bsp_bcast on pid \d+, superstep 0: root is {p}, and there are
 *   processes 0 to {p - 1}.*
 * Stderr if case == 'size': ^bspnow: bsp_scatter on pid \d+, superstep 0: nbytes is -1; .+
 * Stderr if case == 'src': ^bspnow: bsp_gather on pid \d+, superstep 0: src is NULL, and nbytes is
 *   4; .+
 * Stderr if case == 'dst': ^bspnow: bsp_bcast on pid \d+, superstep 0: dst is NULL, and nbytes is
 *   4; .+
 * Stderr if case == 'op': ^bspnow: bsp_scan on pid \d+, superstep 0: op is NULL; .+
 * Stderr if case == 'early': ^bspnow: bsp_sumI on pid \d+ before bsp_begin: call
 *   bsp_begin first.*
 * Stderr if case == 'machine': ^bspnow: bsp_sumI on pid \d+, superstep 0: BSP_MACHINE=fast is not
 *   understood; .+
 * Stderr if case == 'algorithm': ^bspnow: bsp_sumI on pid \d+, superstep 0: BSP_COLLECTIVES=best
 *   names no algorithm; .+
 */
#include "bsp_level1.h"

#include "level1/model.h"

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int x = 1, y[64];
  if (what[0] == 'e') bsp_sumI(1);
  bsp_begin(bsp_nprocs());
  if (what[0] == 'r') bsp_bcast(bsp_nprocs(), &x, y, sizeof x);
  if (what[0] == 's' && what[1] == 'i') bsp_scatter(0, &x, y, -1);
  if (what[0] == 's' && what[1] == 'r') bsp_gather(0, NULL, y, sizeof x);
  if (what[0] == 'd') bsp_bcast(0, &x, NULL, sizeof x);
  if (what[0] == 'o') bsp_scan(NULL, &x, y, sizeof x);
  bsp_sumI(1);
  puts("no error");
  bsp_end();
  return 0;
}
