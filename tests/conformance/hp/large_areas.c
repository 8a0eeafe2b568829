/* Source: BSPlib 1997, Put, statement 8
 * Source: BSPlib 1997, Get, statement 5
 * Claim: The unbuffered calls move megabytes, again and again, in both directions at once.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

static void Fill(unsigned char *area, int nbytes, int salt) {
  int i;
  for (i = 0; i < nbytes; i++) area[i] = (unsigned char)(i * 7 + i / 251 + salt);
}

static void Check(const unsigned char *area, int nbytes, int salt) {
  int i;
  for (i = 0; i < nbytes; i++)
    if (area[i] != (unsigned char)(i * 7 + i / 251 + salt)) EXPECT_EQ(i, -1);
}

int main(void) {
  unsigned char *source, *put, *got;
  int me, next, prev, nbytes, superstep;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  nbytes = 8 * 1024 * 1024 / bsp_nprocs() + 1;
  source = malloc(nbytes);
  put = calloc(nbytes, 1);
  got = calloc(nbytes, 1);
  EXPECT(source != NULL && put != NULL && got != NULL);
  bsp_push_reg(source, nbytes);
  bsp_push_reg(put, nbytes);
  for (superstep = 0; superstep < 3; superstep++) {
    Fill(source, nbytes, me + superstep);
    bsp_sync(); /* Nobody may use `source` before it is filled, nor refill it while in use. */
    bsp_hpput(next, source, put, 0, nbytes);
    bsp_hpget(next, source, 0, got, nbytes);
    bsp_sync();
    Check(put, nbytes, prev + superstep);
    Check(got, nbytes, next + superstep);
  }
  free(source);
  free(put);
  free(got);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
