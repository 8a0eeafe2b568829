/* Source: BSPlib 1997, Halt, statement 2
 * Claim: The arguments of bsp_abort are interpreted as those of printf, and the text is printed as
 *   it is, in one piece.
 * Exit: 6
 * Stderr: ^ 17\|-0003\|ff\|text\|te  \|1\.50\|2000000000000\|c\|100%$
 * Stderr: ^second line$
 */
#include "bsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0)
    bsp_abort("%3d|%05d|%x|%s|%-4.2s|%.2f|%ld|%c|100%%\nsecond line\n", 17, -3, 255, "text", "text",
              1.5, 2000000000000L, 'c');
  bsp_end();
  return 0;
}
