/* Source: BSPlib 1997, DRMA, statement 8
 * Source: BSPlib 1997, Put, statement 7
 * Claim: A put of megabytes is buffered on source too.
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  unsigned char *source, *area;
  int me, prev;
  size_t i, nbytes;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  nbytes = 8 * 1024 * 1024 / bsp_nprocs() + 3;
  source = malloc(nbytes);
  area = calloc(nbytes, 1);
  EXPECT(source != NULL && area != NULL);
  for (i = 0; i < nbytes; i++) source[i] = (unsigned char)(i * 7 + i / 251 + me);
  bsp_push_reg(area, nbytes);
  bsp_sync();
  bsp_put((me + 1) % bsp_nprocs(), source, area, 0, nbytes);
  memset(source, 0, nbytes);
  bsp_sync();
  for (i = 0; i < nbytes; i++)
    if (area[i] != (unsigned char)(i * 7 + i / 251 + prev)) EXPECT_EQ(i, -1);
  bsp_pop_reg(area);
  free(source);
  free(area);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
