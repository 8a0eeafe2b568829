/* Source: BSP_CHECK=textual, statement 3
 * Claim: The ends of a group's supersteps are compared among its processes, and nobody else's; ends
 *   by counting are not compared.
 * Procs: 2 4 7
 * Cases: alike different
 * Env: BSP_CHECK=textual
 * Exit if case == 'different': 6
 * Stderr if case == 'different': ^bspnow: bsp_sync on pid \d+, superstep \d+: pid 0 ended the
 *   superstep at (\S*\.c:47|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:43|\S*\+0x\w+); .+
 */
#include <pub.h>

#include "pub/expect_pub.h"

/* So that no compiler makes one call of two. */
#define APART(n) __asm__ volatile("# " #n)

int main(int argc, char **argv) {
  const int differ = argc > 1 && argv[1][0] == 'd';
  t_bsp bsp, half, dup;
  int part[2], last, upper;
  PUB_BEGIN(argc, argv, bsp);
  part[1] = bsp_nprocs(&bsp);
  part[0] = part[1] / 2;
  upper = bsp_pid(&bsp) >= part[0];
  last = bsp_pid(&bsp) == part[1] - 1;
  bsp_partition(&bsp, &half, 2, part);
  if (upper) {
    APART(before_1);
    bsp_sync(&half);
    APART(after_1);
    bsp_oblsync(&bsp, 0);
  } else {
    APART(before_2);
    bsp_sync(&half);
    APART(after_2);
    bsp_oblsync(&bsp, 0);
  }
  bsp_done(&half);
  bsp_dup(&bsp, &dup);
  if (differ && last) {
    APART(before_3);
    bsp_sync(&dup);
    APART(after_3);
  } else {
    APART(before_4);
    bsp_sync(&dup);
    APART(after_4);
  }
  bsp_done(&dup);
  PUB_END(bsp);
  return 0;
}
