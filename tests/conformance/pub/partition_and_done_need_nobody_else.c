/* Source: PUB 2003, section 4.1.1, statement 3
 * Source: PUB 2003, section 4.1.2, statement 3
 * Claim: bsp_partition, bsp_dup and bsp_done need no communication: a process makes and leaves
 *   groups while the others wait for a message that it sends afterwards.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static void MakeAndLeave(pbsp bsp) {
  t_bsp copy, sub;
  int i, part[64];
  for (i = 0; i < bsp_nprocs(bsp); ++i) part[i] = i + 1;
  for (i = 0; i < 3; ++i) {
    bsp_dup(bsp, &copy);
    bsp_partition(&copy, &sub, bsp_nprocs(bsp), part);
    EXPECT_EQ(bsp_nprocs(&sub), 1);
    bsp_sync(&sub);
    bsp_done(&sub);
    bsp_done(&copy);
  }
}

int main(int argc, char **argv) {
  t_bsp bsp;
  int first;
  PUB_BEGIN(argc, argv, bsp);
  first = bsp_pid(&bsp) == 0;
  if (first) {
    MakeAndLeave(&bsp);
    bsp_gsend(&bsp, 0, bsp_nprocs(&bsp) - 1, "go", 3);
  }
  bsp_oblsync(&bsp, 1);
  if (!first) MakeAndLeave(&bsp);
  bsp_sync(&bsp);
  PUB_END(bsp);
  return 0;
}
