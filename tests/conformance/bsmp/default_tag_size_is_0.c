/* Source: BSPlib 1997, Tag size, statement 2
 * Source: BSPlib 1997, Tag size, note 6
 * Claim: Without bsp_set_tagsize the tag size is 0: tags are not copied.
 */
#include "bsp.h"
#include "expect.h"

int main(void) {
  int tag = 1, got = 2, status, size = 0;
  bsp_begin(bsp_nprocs());
  bsp_send(bsp_pid(), &tag, &tag, sizeof(tag));
  bsp_sync();
  bsp_get_tag(&status, &got);
  EXPECT_EQ(status, sizeof(tag));
  EXPECT_EQ(got, 2);
  bsp_set_tagsize(&size);
  EXPECT_EQ(size, 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
