/* Source: semantics, messages, statement 4
 * Claim: bsp_move on an empty queue is an error: where no message has come, and where all have been
 *   moved.
 * Cases: none all
 * Exit: 6
 * Stderr: ^bspnow: bsp_move on pid {p - 1}, superstep 1: .*queue is empty.*; .+
 */
#include <string.h>

#include "bsp.h"

int main(int argc, char **argv) {
  int none = argc > 1 && strcmp(argv[1], "none") == 0, x = 0;
  bsp_begin(bsp_nprocs());
  if (!none) bsp_send(bsp_pid(), NULL, &x, sizeof(x));
  bsp_sync();
  if (!none) bsp_move(&x, sizeof(x));
  if (bsp_pid() == bsp_nprocs() - 1) bsp_move(&x, sizeof(x));
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
