/* Source: BSPlib 1997, Starting and finishing, statement 5
 * Source: design, section 6, statement 1
 * Claim: The lines of different processes do not run into each other, not even long ones that are
 *   written piece by piece.
 * Stdout: {pid}: {'abcdefghij' * 200}
 * Stdout: {pid}; {'abcdefghij' * 200}
 * Stdout: {pid}. {'abcdefghij' * 200}
 * Order: any
 */
#include "bsp.h"

int main(void) {
  int line, i;
  bsp_begin(bsp_nprocs());
  for (line = 0; line < 3; line++) {
    printf("%d%c ", bsp_pid(), ":;."[line]);
    for (i = 0; i < 200; i++) {
      fputs("abcdefghij", stdout);
      if (i % 50 == 0) fflush(stdout);
    }
    putchar('\n');
    fflush(stdout);
    bsp_sync();
  }
  bsp_end();
  return 0;
}
