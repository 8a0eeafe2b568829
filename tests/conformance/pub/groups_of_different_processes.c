/* Source: semantics, PUB, statement 2
 * Claim: Processes that disagree about who is in a group are told.
 * Cases: parts calls
 * Procs: 2 4
 * Exit: 6
 * Stderr: ^bspnow: bsp_(partition|dup) on pid \d+, superstep 0: this process makes a group of \d+
 *   processes, and another process the same one of \d+, .+
 */
#include <pub.h>

#include "pub/expect_pub.h"

int main(int argc, char **argv) {
  int others_dup = argc > 1 && strcmp(argv[1], "calls") == 0;
  t_bsp bsp, sub;
  int me, part[2];
  PUB_BEGIN(argc, argv, bsp);
  me = bsp_pid(&bsp);
  part[0] = me == 0 ? 1 : 2;
  part[1] = bsp_nprocs(&bsp);
  if (me != 0 && others_dup)
    bsp_dup(&bsp, &sub);
  else
    bsp_partition(&bsp, &sub, 2, part);
  bsp_sync(&bsp); /* Who was first still has its group. */
  puts("no error");
  return 0;
}
