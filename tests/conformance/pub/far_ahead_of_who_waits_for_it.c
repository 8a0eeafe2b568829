/* Source: semantics, PUB, statement 5
 * Claim: A process that may not end one more superstep before another one has read what it was
 *   sent, or because that is 250 behind, waits; if that one waits for it in another group, the job
 *   ends with an error that says so.
 * Procs: 2
 * Cases: sent empty
 * Exit: 1
 * Stderr: ^bsprun: 2 processes wait for each other, and none can go on: pid 0 waits in bsp_oblsync,
 *   superstep \d+ of .*, which others are far behind, for pid 1, which waits for messages at the
 *   end of superstep 0 of group 1 .pids 0 1. for pid 0; .+
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  t_bsp bsp, other;
  int me;
  PUB_BEGIN(argc, argv, bsp);
  me = bsp_pid(&bsp);
  bsp_dup(&bsp, &other);
  if (me == 0) {
    if (strcmp(what, "sent") == 0) bsp_send(&bsp, 1, &me, sizeof me);
    for (int superstep = 0; superstep < 400; ++superstep) bsp_oblsync(&bsp, 0);
    bsp_send(&other, 1, &me, sizeof me);
  }
  bsp_oblsync(&other, me);
  puts("no error");
  return 0;
}
