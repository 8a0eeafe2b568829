/* Source: BSP_CHECK=full, statement 2
 * Claim: Unbuffered transfers whose memory is left alone arrive as ever.
 * Cases: 1 8 4096 100000
 * Env: BSP_CHECK=full
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(int argc, char **argv) {
  int bytes = argc > 1 ? atoi(argv[1]) : 1;
  char *in = calloc(bytes, 1), *out = malloc(bytes), *back = calloc(bytes, 1);
  int i, p, me;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  memset(out, 1 + me, bytes);
  bsp_push_reg(in, bytes);
  bsp_push_reg(out, bytes);
  bsp_sync();
  bsp_hpput((me + 1) % p, out, in, 0, bytes);
  bsp_hpget((me + 1) % p, out, 0, back, bytes);
  bsp_sync();
  for (i = 0; i < bytes; i++) {
    EXPECT(in[i] == (char)(1 + (me + p - 1) % p));
    EXPECT(back[i] == (char)(1 + (me + 1) % p));
  }
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
