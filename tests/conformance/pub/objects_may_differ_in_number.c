/* Source: PUB 2003, section 4.1.3, statement 5
 * Claim: The number of objects that a processor has made, and has open, can be different on each
 *   when bsp_threadsafe_dup is called: what is sent in the new object comes to the same object on
 *   all others.
 */
#include <pub.h>

#include "pub/expect_pub.h"

/* Messages, a reduction and memory of an object, which is of all processes. */
static void Check(pbsp bsp, int base) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), value = base + me, sum = -1;
  bsp_send(bsp, (me + 1) % p, &value, sizeof value);
  bsp_gallreduce(bsp, 0, p - 1, &me, &sum, 1, bspop_addint, NULL);
  bsp_sync(bsp);
  EXPECT_EQ(bsp_nmsgs(bsp), 1);
  EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(bsp, 0)), base + (me + p - 1) % p);
  EXPECT_EQ(sum, p * (p - 1) / 2);
}

/* Some objects of this process alone, as many as `count`; the deepest has a superstep. */
static void MakeMany(pbsp bsp, int count) {
  t_bsp sub;
  if (count == 0) return;
  bsp_dup(bsp, &sub);
  MakeMany(&sub, count - 1);
  bsp_send(&sub, 0, &count, sizeof count);
  bsp_sync(&sub);
  EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&sub, 0)), count);
  bsp_done(&sub);
}

int main(int argc, char **argv) {
  t_bsp bsp, alone, first, second, third;
  int part[64], p, me, i;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (i = 0; i < p; ++i) part[i] = i + 1;
  bsp_partition(&bsp, &alone, p, part);
  MakeMany(&alone, me % 5);
  bsp_threadsafe_dup(&bsp, &first); /* While each has a group of its own open. */
  Check(&first, 100);
  MakeMany(&alone, (me + 3) % 4);
  bsp_threadsafe_dup(&first, &second);
  Check(&second, 200);
  bsp_threadsafe_dup(&bsp, &third);
  Check(&third, 300);
  Check(&first, 400);
  Check(&bsp, 500);
  bsp_done(&third);
  bsp_done(&second);
  bsp_done(&first);
  bsp_done(&alone);
  Check(&bsp, 600);
  PUB_END(bsp);
  return 0;
}
