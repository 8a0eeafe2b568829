/* Source: semantics, PUB, statement 5
 * Claim: Processes that wait for each other at ends of supersteps, or for messages, each in another
 *   group, end with an error that says who waits where for whom.
 * Procs: 2
 * Cases: made ended counted
 * Exit: 1
 * Stderr: ^bsprun: 2 processes wait for each other, and none can go on: pid 0 waits .*at the end of
 *   superstep 0 of group [12] .pids 0 1. for pid 1, which waits .* for pid 0; .+
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  t_bsp bsp, first, second;
  int me;
  PUB_BEGIN(argc, argv, bsp);
  me = bsp_pid(&bsp);
  if (me == 0 || strcmp(what, "made") != 0) bsp_dup(&bsp, &first);
  bsp_dup(&bsp, &second);
  if (strcmp(what, "made") == 0) bsp_sync(&second);
  if (strcmp(what, "ended") == 0) bsp_sync(me == 0 ? &first : &second);
  if (strcmp(what, "counted") == 0) bsp_oblsync(me == 0 ? &first : &second, 1);
  puts("no error");
  return 0;
}
