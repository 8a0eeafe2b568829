/* Source: BSPlib 1997, Halt, statement 4
 * Claim: bsp_abort does not wait for the others: it halts processes that compute, that sleep, that
 *   are in bsp_end, and that read.
 * Cases: compute sleep end read
 * Exit: 6
 * Stderr: ^stopped during {case}$
 */
#include <string.h>
#include <unistd.h>

#include "bsp.h"

static volatile int forever = 1;

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  bsp_begin(bsp_nprocs());
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    usleep(20 * 1000);
    bsp_abort("stopped during %s\n", what);
  }
  while (strcmp(what, "compute") == 0 && forever) {
  }
  while (strcmp(what, "sleep") == 0) sleep(1000);
  while (strcmp(what, "read") == 0) {
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1) break; /* Nobody writes. */
  }
  bsp_end();
  return 0;
}
