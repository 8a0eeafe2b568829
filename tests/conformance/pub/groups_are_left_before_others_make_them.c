/* Source: PUB 2003, section 4.1.2, statement 3
 * Claim: bsp_dup incurs no communication: a process can make and close groups long before the
 *   others come to them.
 * Procs: 2 4 7
 */
#include <pub.h>

#include "pub/expect_pub.h"

static void make_and_close(pbsp bsp) {
  t_bsp group;
  int i;
  for (i = 0; i < 12; ++i) {
    bsp_dup(bsp, &group);
    bsp_done(&group);
  }
}

int main(int argc, char **argv) {
  t_bsp bsp;
  PUB_BEGIN(argc, argv, bsp);
  if (bsp_pid(&bsp) == 1) make_and_close(&bsp);
  bsp_sync(&bsp);
  if (bsp_pid(&bsp) != 1) make_and_close(&bsp);
  bsp_sync(&bsp);
  PUB_END(bsp);
  return 0;
}
