/* Source: MulticoreBSP, calls, statement 3
 * Claim: bsp_hpsend delivers like bsp_send if tag and payload stay as they are until bsp_sync,
 *   large messages and small ones, in the same queue.
 */
#define BSP_MULTICORE
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

enum { kLarge = 1000000 };

int main(void) {
  unsigned me, prev, next, n, tags[3] = {10, 11, 12}, tag;
  size_t size = sizeof(tag), bytes, status, i;
  unsigned char *out, *in;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  out = malloc(kLarge);
  in = malloc(kLarge);
  EXPECT(out != NULL && in != NULL);
  for (i = 0; i < kLarge; i++) out[i] = (unsigned char)(i * 3 + me);
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_hpsend(next, &tags[0], out, 5);
  bsp_send(next, &tags[1], out, 6);
  bsp_hpsend(next, &tags[2], out, kLarge);
  bsp_sync();
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 3);
  EXPECT_EQ(bytes, 5 + 6 + kLarge);
  for (; n > 0; n--) {
    bsp_get_tag(&status, &tag);
    EXPECT_EQ(tag, 13 - n);
    EXPECT_EQ(status, n == 3 ? 5 : n == 2 ? 6 : kLarge);
    bsp_move(in, kLarge);
    for (i = 0; i < status; i++)
      if (in[i] != (unsigned char)(i * 3 + prev)) EXPECT_EQ(i, -1);
  }
  free(out);
  free(in);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
