/* Source: BSPlib 1997, Tag size, statement 5
 * Source: BSPlib 1997, Tag size, note 3
 * Source: semantics, tag size, statement 5
 * Claim: bsp_set_tagsize must be called by all processes with the same value in the same superstep:
 *   differing values are an error at the barrier, which names both processes; so is a process that
 *   does not call it.
 * Cases: value omitted
 * Procs: 2 4 7 64
 * Exit: 6
 * Stderr if case == 'value': ^bspnow: bsp_sync on pid [0-9]+, superstep 1: .*tag sizes differ:
 *   pid 0 set 4, pid {p - 1} set 8.*
 * Stderr if case == 'omitted': ^bspnow: bsp_sync on pid [0-9]+, superstep 1: .*tag sizes differ.*
 */
#include <string.h>

#include "bsp.h"

int main(int argc, char **argv) {
  int omitted = argc > 1 && strcmp(argv[1], "omitted") == 0, last, size;
  bsp_begin(bsp_nprocs());
  last = bsp_pid() == bsp_nprocs() - 1;
  bsp_sync();
  size = last ? 8 : 4;
  if (!last || !omitted) bsp_set_tagsize(&size);
  bsp_sync();
  puts("no error");
  fflush(stdout);
  bsp_end();
  return 0;
}
