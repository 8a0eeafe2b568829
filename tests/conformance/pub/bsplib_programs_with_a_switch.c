/* Source: PUB 2003, section 1.1, statement 1
 * Claim: With a switch the library takes BSPlib programs: pub.h is then bsp.h, with a sequential
 *   part, puts and gets, and messages with tags.
 */
#define PUB_BSPLIB
#include <pub.h>

#include "expect.h"

static void Spmd(void) {
  int left = -1, right = -1, pid, next, tag, tag_bytes = sizeof(int), status, value;
  bsp_begin(bsp_nprocs());
  pid = bsp_pid();
  next = (pid + 1) % bsp_nprocs();
  bsp_push_reg(&left, sizeof left);
  bsp_set_tagsize(&tag_bytes);
  bsp_sync();
  bsp_put(next, &pid, &left, 0, sizeof pid);
  tag = 100 + pid;
  bsp_send(next, &tag, &pid, sizeof pid);
  bsp_sync();
  EXPECT_EQ(left, (pid + bsp_nprocs() - 1) % bsp_nprocs());
  bsp_get_tag(&status, &tag);
  EXPECT_EQ(status, sizeof value);
  EXPECT_EQ(tag, 100 + left);
  bsp_move(&value, sizeof value);
  EXPECT_EQ(value, left);
  bsp_get(next, &left, 0, &right, sizeof right);
  bsp_sync();
  EXPECT_EQ(right, pid);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(Spmd, argc, argv);
  Spmd();
  puts("ok");
  return 0;
}
