/* Source: semantics, output, statement 1
 * Claim: A line leaves its process when it is printed: it is shown although nobody flushed it and
 *   the job ends by an error, in the same superstep or a later one.
 * Cases: abort misuse
 * Exit: 6
 * Stdout: before {pid}
 * Stdout: line {pid}
 * Order: any
 * Stderr: ^halt$|^bspnow: bsp_put on pid [0-9]+, superstep 1: .*$
 */
#include <string.h>

#include "bsp.h"

int main(int argc, char **argv) {
  printf("before %s", ""); /* A line may come in pieces. */
  bsp_begin(bsp_nprocs());
  printf("%d\n", bsp_pid());
  printf("line %d\n", bsp_pid());
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    if (argc > 1 && strcmp(argv[1], "misuse") == 0) bsp_put(-1, &argc, &argc, 0, 1);
    bsp_abort("halt\n");
  }
  bsp_sync();
  bsp_end();
  return 0;
}
