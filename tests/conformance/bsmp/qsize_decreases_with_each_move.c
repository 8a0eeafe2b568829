/* Source: BSPlib 1997, Queue size, statement 3
 * Source: BSPlib 1997, Queue size, note 1
 * Source: semantics, messages, statement 7
 * Claim: bsp_qsize counts what is not yet consumed, by bsp_move or bsp_hpmove.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int i, n, bytes;
  char data[10] = {0};
  void *tag_ptr, *payload_ptr;
  bsp_begin(bsp_nprocs());
  for (i = 0; i < 10; i++) bsp_send((bsp_pid() + 1) % bsp_nprocs(), NULL, data, i);
  bsp_sync();
  for (i = 0; i < 10; i++) {
    bsp_qsize(&n, &bytes);
    EXPECT_EQ(n, 10 - i);
    EXPECT_EQ(bytes, (45 - i * (i - 1) / 2));
    if (i % 2 == 0)
      bsp_move(data, i % 4); /* The whole message goes, however much of it is copied. */
    else
      EXPECT_EQ(bsp_hpmove(&tag_ptr, &payload_ptr), i);
  }
  bsp_qsize(&n, &bytes);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(bytes, 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
