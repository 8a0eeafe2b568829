/* Source: PUB 2003, section 2.2, statement 10
 * Claim: bspmsg_data, bspmsg_size and bspmsg_src work on the message itself: handles of several
 *   objects can be used side by side, while any of them takes supersteps of its own; each is good
 *   until its own object's next synchronisation point.
 */
#include <pub.h>

#include "pub/expect_pub.h"

/* `text` of process `source`: knows nothing of the object. */
static void Check(t_bspmsg *msg, int source, const char *text) {
  EXPECT(msg != NULL);
  EXPECT_EQ(bspmsg_src(msg), source);
  EXPECT_EQ(bspmsg_size(msg), strlen(text) + 1);
  EXPECT_EQ(strcmp((const char *)bspmsg_data(msg), text), 0);
}

int main(int argc, char **argv) {
  t_bsp bsp, sub, copy;
  t_bspmsg *of_all, *of_half, *of_copy;
  int part[2], p, me, q, mine, i;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  part[0] = p / 2;
  part[1] = p;
  bsp_send(&bsp, (me + 1) % p, "of all", 7);
  bsp_sync(&bsp);
  of_all = bsp_getmsg(&bsp, 0);
  bsp_partition(&bsp, &sub, 2, part);
  q = bsp_nprocs(&sub);
  mine = bsp_pid(&sub);
  bsp_send(&sub, (mine + 1) % q, "of a half", 10);
  bsp_sync(&sub);
  of_half = bsp_getmsg(&sub, 0);
  bsp_dup(&sub, &copy);
  for (i = 0; i < 3; ++i) {
    bsp_send(&copy, mine, "of a copy", 10);
    bsp_sync(&copy);
    of_copy = bsp_getmsg(&copy, 0);
    Check(of_copy, mine, "of a copy");
    Check(of_all, (me + p - 1) % p, "of all");
    Check(of_half, (mine + q - 1) % q, "of a half");
  }
  bsp_done(&copy);
  bsp_sync(&sub);
  EXPECT_EQ(bsp_nmsgs(&sub), 0);
  Check(of_all, (me + p - 1) % p, "of all");
  bsp_done(&sub);
  Check(of_all, (me + p - 1) % p, "of all");
  PUB_END(bsp);
  return 0;
}
