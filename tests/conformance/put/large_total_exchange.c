/* Source: BSPlib 1997, Put, statement 4
 * Claim: The data communicated can be of arbitrary size: every process puts to every process,
 *   together megabytes, in several supersteps of growing size.
 */
#include <stdlib.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  int *in, *out, me, p, i, n, most, pid, turn;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  most = 1024 * 1024 / (p * p) + 1;
  in = calloc((size_t)most * p, sizeof(int));
  out = calloc((size_t)most * p, sizeof(int));
  EXPECT(in != NULL && out != NULL);
  bsp_push_reg(in, most * p * sizeof(int));
  bsp_sync();
  for (turn = 1, n = 1; n <= most; n *= 8, turn++) {
    for (i = 0; i < n * p; i++) out[i] = turn * i + me;
    for (pid = 0; pid < p; pid++)
      bsp_put(pid, out + pid * n, in, me * n * sizeof(int), n * sizeof(int));
    bsp_sync();
    for (i = 0; i < n * p; i++) EXPECT_EQ(in[i], turn * (me * n + i % n) + i / n);
  }
  bsp_pop_reg(in);
  free(in);
  free(out);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
