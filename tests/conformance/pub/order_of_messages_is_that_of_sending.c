/* Source: PUB 2003, section 4.2.1, statement 2
 * Claim: The order in which a process sends messages to another one is not changed, whatever is
 *   combined: short ones, long ones, buffered or not, broadcast or not.
 */
#include <pub.h>

#include "pub/expect_pub.h"

enum { kMessages = 60, kLong = 100000 };

static int content[kMessages][kLong / sizeof(int)];

static int SizeOf(int i) { return i % 7 == 3 ? kLong : i % 5 == 1 ? 4096 : (int)sizeof(int); }

static void SendAll(pbsp bsp, int i) {
  int p = bsp_nprocs(bsp), pid;
  if (i % 4 == 0) bsp_gsend(bsp, 0, p - 1, content[i], SizeOf(i));
  if (i % 4 == 1) bsp_hpgsend(bsp, 0, p - 1, content[i], SizeOf(i));
  for (pid = 0; pid < p; ++pid) {
    if (i % 4 == 2) bsp_send(bsp, pid, content[i], SizeOf(i));
    if (i % 4 == 3) bsp_hpsend(bsp, pid, content[i], SizeOf(i));
  }
}

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, i;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  for (i = 0; i < kMessages; ++i) {
    content[i][0] = content[i][SizeOf(i) / sizeof(int) - 1] = 1000 * me + i;
    if (me % 8 == 0 || SizeOf(i) < kLong) SendAll(&bsp, i);
  }
  bsp_sync(&bsp);
  for (me = 0; me < p; ++me) {
    int k = 0;
    for (i = 0; i < kMessages; ++i) {
      t_bspmsg *msg;
      if (me % 8 != 0 && SizeOf(i) == kLong) continue;
      msg = bsp_findmsg(&bsp, me, k++);
      EXPECT(msg != NULL);
      EXPECT_EQ(bspmsg_size(msg), SizeOf(i));
      EXPECT_EQ(((int *)bspmsg_data(msg))[0], 1000 * me + i);
      EXPECT_EQ(((int *)bspmsg_data(msg))[SizeOf(i) / sizeof(int) - 1], 1000 * me + i);
    }
    EXPECT(bsp_findmsg(&bsp, me, k) == NULL);
  }
  PUB_END(bsp);
  return 0;
}
