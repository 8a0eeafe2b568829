/* Source: semantics, PUB, statement 1
 * Claim: Files that use bsp.h and files that use pub.h may be linked into one program; BSPlib's
 *   calls act on the group of all processes.
 */
#include <pub.h>

#include "pub/expect_pub.h"

/* In files_of_bsplib_and_pub_in_one_program.part.c, which uses bsp.h. */
int LeftByBsplib(int value);

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  EXPECT_EQ(LeftByBsplib(me + 10), (me + p - 1) % p + 10);
  bsp_send(&bsp, (me + 1) % p, &me, sizeof me);
  bsp_sync(&bsp);
  EXPECT_EQ(bspmsg_src(bsp_getmsg(&bsp, 0)), (me + p - 1) % p);
  PUB_END(bsp);
  return 0;
}
