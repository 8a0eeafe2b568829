/* Source: semantics, PUB, statement 8
 * Claim: A process has room for sixteen objects at a time, beside that of bsplib_init; each has
 *   messages and supersteps of its own, and may be used while newer ones are open. Closed ones make
 *   room for others.
 */
#include <pub.h>

#include "pub/expect_pub.h"

enum { kObjects = 16 };

static t_bsp objects[kObjects + 1]; /* The first is that of bsplib_init. */

static void SendInAll(int open) {
  int i;
  for (i = open; i >= 0; --i) {
    int me = bsp_pid(&objects[i]), p = bsp_nprocs(&objects[i]), word = 1000 * i + me;
    bsp_send(&objects[i], (me + 1) % p, &word, sizeof word);
  }
  for (i = 0; i <= open; ++i) {
    int me = bsp_pid(&objects[i]), p = bsp_nprocs(&objects[i]);
    bsp_sync(&objects[i]);
    EXPECT_EQ(bsp_nmsgs(&objects[i]), 1);
    EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&objects[i], 0)), 1000 * i + (me + p - 1) % p);
  }
}

int main(int argc, char **argv) {
  int turn, i, part[2];
  PUB_BEGIN(argc, argv, objects[0]);
  for (turn = 0; turn < 3; ++turn) {
    for (i = 0; i < kObjects; ++i) {
      if (i % 8 == 7 - turn) {
        part[0] = bsp_nprocs(&objects[i]) / 2;
        part[1] = bsp_nprocs(&objects[i]);
        bsp_partition(&objects[i], &objects[i + 1], 2, part);
      } else {
        bsp_dup(&objects[i], &objects[i + 1]);
      }
    }
    SendInAll(kObjects);
    for (i = kObjects; i > 0; --i) bsp_done(&objects[i]);
    SendInAll(0);
  }
  PUB_END(objects[0]);
  return 0;
}
