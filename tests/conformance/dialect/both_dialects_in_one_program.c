/* Source: bsp.h, head, statement 3
 * Claim: Files of both dialects may be linked into one program and act on the same processes,
 *   registrations, queue and tag size.
 */
#include "bsp.h"
#include "expect.h"

/* In both_dialects_in_one_program.part.c, which has BSP_MULTICORE defined. */
void PutAndSendTheOtherWay(int *area, int value);

int main(void) {
  int area[2] = {-1, -1}, value, me, prev, size = sizeof(int), n, bytes, status, tag;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  value = 100 + me;
  bsp_push_reg(area, sizeof(area));
  bsp_set_tagsize(&size);
  bsp_sync();
  PutAndSendTheOtherWay(area, value);
  bsp_put((me + 1) % bsp_nprocs(), &value, area, sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT_EQ(area[0], 100 + prev);
  EXPECT_EQ(area[1], 100 + prev);
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(bytes, sizeof(int));
  bsp_get_tag(&status, &tag);
  EXPECT_EQ(tag, 100 + prev);
  bsp_pop_reg(area);
  bsp_sync();
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
