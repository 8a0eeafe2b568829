/* Source: MulticoreBSP, calls, statement 2
 * Claim: bsp_direct_get fetches megabytes too, and mixes with the other calls.
 */
#define BSP_MULTICORE
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  unsigned char *source, *got;
  unsigned me, p, next;
  size_t nbytes, i;
  int x = -1, y;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  next = (me + 1) % p;
  nbytes = 8 * 1024 * 1024 / p + 1;
  source = malloc(nbytes);
  got = calloc(nbytes, 1);
  EXPECT(source != NULL && got != NULL);
  for (i = 0; i < nbytes; i++) source[i] = (unsigned char)(i * 7 + i / 251 + me);
  bsp_push_reg(source, nbytes);
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  y = (int)me;
  bsp_put(next, &y, &x, 0, sizeof(x));
  bsp_direct_get(next, source, 0, got, nbytes);
  for (i = 0; i < nbytes; i++)
    if (got[i] != (unsigned char)(i * 7 + i / 251 + next)) EXPECT_EQ(i, -1);
  EXPECT_EQ(x, -1);
  bsp_sync();
  EXPECT_EQ(x, (me + p - 1) % p);
  free(source);
  free(got);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
