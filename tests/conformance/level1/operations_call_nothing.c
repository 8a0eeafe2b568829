/* Source: semantics, collectives, statement 7
 * Claim: An operation that calls the library is an error.
 * Cases: whole elements
 * Procs: 2 4 7
 * Exit: 6
 * Stderr: ^bspnow: bsp_sync on pid \d+, superstep \d+: it is called within an operation of a
 *   collective call, .+
 */
#include "bsp_level1.h"

#include "level1/model.h"

static void SyncAndAdd(void *result, void *left, void *right, int *nbytes) {
  (void)nbytes;
  bsp_sync();
  *(int *)result = *(int *)left + *(int *)right;
}

int main(int argc, char **argv) {
  static int x[100000], y[100000];
  bsp_begin(bsp_nprocs());
  if (argc > 1 && argv[1][0] == 'e') {
    bsp_scan_elements(SyncAndAdd, x, y, 100000, sizeof x[0]);
  } else {
    bsp_fold(SyncAndAdd, x, y, sizeof x[0]);
  }
  bsp_end();
  return 0;
}
