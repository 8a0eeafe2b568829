/* Source: BSPlib 1997, Get, statement 1
 * Claim: Gets of megabytes, from several processes at once.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  unsigned char *source, *got;
  int i, me, p, k, nbytes, from;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  nbytes = 4 * 1024 * 1024 / p + 5;
  source = malloc(nbytes);
  got = calloc(nbytes, 3);
  EXPECT(source != NULL && got != NULL);
  for (i = 0; i < nbytes; i++) source[i] = (unsigned char)(i * 7 + i / 251 + me);
  bsp_push_reg(source, nbytes);
  bsp_sync();
  for (k = 0; k < 3; k++) bsp_get((me + k) % p, source, 0, got + k * nbytes, nbytes);
  bsp_sync();
  for (k = 0; k < 3; k++) {
    from = (me + k) % p;
    for (i = 0; i < nbytes; i++)
      if (got[k * nbytes + i] != (unsigned char)(i * 7 + i / 251 + from)) EXPECT_EQ(i, -1);
  }
  bsp_pop_reg(source);
  free(source);
  free(got);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
