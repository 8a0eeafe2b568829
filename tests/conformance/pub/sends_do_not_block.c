/* Source: PUB 2003, introduction, statement 4
 * Claim: Communication does not block, buffered or not, between any pair of processors: all send to
 *   all, themselves too, more than any buffer holds, before anybody ends the superstep.
 * Cases: buffered unbuffered
 */
#include <pub.h>

#include "pub/expect_pub.h"

enum { kAll = 512 * 1024 }; /* Bytes that a process sends in all. */

int main(int argc, char **argv) {
  t_bsp bsp;
  int p, me, to, i, size, unbuffered = argc > 1 && argv[1][0] == 'u';
  char *bytes;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  size = kAll / p;
  bytes = (char *)malloc((size_t)size);
  memset(bytes, me + 1, (size_t)size);
  for (to = 0; to < p; ++to) {
    if (unbuffered) {
      bsp_hpsend(&bsp, to, bytes, size);
    } else {
      bsp_send(&bsp, to, bytes, size);
    }
  }
  if (!unbuffered) memset(bytes, 0, (size_t)size);
  bsp_sync(&bsp);
  EXPECT_EQ(bsp_nmsgs(&bsp), p);
  for (i = 0; i < p; ++i) {
    t_bspmsg *msg = bsp_findmsg(&bsp, i, 0);
    const char *data = (const char *)bspmsg_data(msg);
    EXPECT_EQ(bspmsg_size(msg), size);
    EXPECT_EQ(data[0], i + 1);
    EXPECT_EQ(memcmp(data, data + 1, (size_t)size - 1), 0);
  }
  free(bytes);
  PUB_END(bsp);
  return 0;
}
