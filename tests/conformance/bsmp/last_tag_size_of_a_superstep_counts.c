/* Source: BSPlib 1997, Tag size, note 5
 * Source: semantics, tag size, statement 4
 * Claim: Of several bsp_set_tagsize in one superstep the last gives the size for the next.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  char got[9] = "--------";
  int size, status;
  bsp_begin(bsp_nprocs());
  size = 8;
  bsp_set_tagsize(&size);
  size = 0;
  bsp_set_tagsize(&size);
  size = 2;
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_send(bsp_pid(), "abcdefgh", NULL, 0);
  bsp_sync();
  bsp_get_tag(&status, got);
  EXPECT_EQ(status, 0);
  EXPECT(strcmp(got, "ab------") == 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
