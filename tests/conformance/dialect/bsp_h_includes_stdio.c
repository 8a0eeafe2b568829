/* Source: semantics, dialects, statement 4
 * Claim: bsp.h includes <stdio.h>, as the Oxford toolset's does, and NULL and size_t are known.
 */
#include "bsp.h"

int main(void) {
  FILE *out = stdout;
  size_t one = 1;
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0 && out != NULL) fprintf(out, "%s\n", one == 1 ? "ok" : "");
  bsp_end();
  return 0;
}
