/* Source: BSPlib 1997, Send, statement 2
 * Source: BSPlib 1997, hpmove, statement 5
 * Claim: A payload may have megabytes; bsp_move and bsp_hpmove give it in one piece.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

static void Check(const unsigned char *data, int nbytes, int salt) {
  int i;
  for (i = 0; i < nbytes; i++)
    if (data[i] != (unsigned char)(i * 7 + i / 251 + salt)) EXPECT_EQ(i, -1);
}

int main(void) {
  unsigned char *data;
  void *tag, *payload;
  int i, me, p, prev, nbytes, status;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  prev = (me + p - 1) % p;
  nbytes = 6 * 1024 * 1024 / p + 1;
  data = malloc(nbytes);
  EXPECT(data != NULL);
  for (i = 0; i < nbytes; i++) data[i] = (unsigned char)(i * 7 + i / 251 + me);
  bsp_send((me + 1) % p, NULL, data, nbytes);
  bsp_send((me + 1) % p, NULL, data, nbytes - 1);
  bsp_sync();
  bsp_get_tag(&status, NULL);
  EXPECT_EQ(status, nbytes);
  bsp_move(data, nbytes);
  Check(data, nbytes, prev);
  EXPECT_EQ(bsp_hpmove(&tag, &payload), nbytes - 1);
  Check(payload, nbytes - 1, prev);
  free(data);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
