/* Source: BSPlib 1997, Tag size, statement 1
 * Source: BSPlib 1997, Tag size, statement 3
 * Claim: A tag size holds for all later supersteps; a procedure that sets its own can put back what
 *   it got, for its caller.
 */
#include "bsp.h"
#include "expect.h"

static void Procedure(void) {
  char byte = 7;
  int size = 1, status;
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_send(bsp_pid(), &byte, NULL, 0);
  bsp_sync();
  byte = 0;
  bsp_get_tag(&status, &byte);
  EXPECT_EQ(byte, 7);
  bsp_set_tagsize(&size);
}

int main(void) {
  int size = sizeof(int), superstep, tag, status;
  bsp_begin(bsp_nprocs());
  bsp_set_tagsize(&size);
  bsp_sync();
  Procedure();
  bsp_sync();
  for (superstep = 0; superstep < 4; superstep++) {
    tag = 1000 + superstep;
    bsp_send(bsp_pid(), &tag, NULL, 0);
    bsp_sync();
    tag = -1;
    bsp_get_tag(&status, &tag);
    EXPECT_EQ(tag, 1000 + superstep);
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
