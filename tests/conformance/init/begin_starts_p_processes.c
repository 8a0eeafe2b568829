/* Source: BSPlib 1997, Starting and finishing, statement 1
 * Claim: The code between bsp_begin and bsp_end is run by every one of the p processes.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int *here, i;
  bsp_begin(bsp_nprocs());
  here = calloc(bsp_nprocs(), sizeof(int));
  EXPECT(here != NULL);
  bsp_push_reg(here, bsp_nprocs() * sizeof(int));
  bsp_sync();
  i = 1;
  bsp_put(0, &i, here, bsp_pid() * sizeof(int), sizeof(int));
  bsp_sync();
  if (bsp_pid() == 0) {
    for (i = 0; i < bsp_nprocs(); i++) EXPECT_EQ(here[i], 1);
    puts("ok");
  }
  bsp_pop_reg(here);
  free(here);
  bsp_end();
  return 0;
}
