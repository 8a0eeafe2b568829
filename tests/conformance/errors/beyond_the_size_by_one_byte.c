/* Source: BSPlib 1997, Put, note 3
 * Source: BSPlib 1997, Get, note 3
 * Source: BSPlib 1997, Registration, note 6
 * Claim: The bound is exact, to the byte, and sums that overflow an int are beyond it too; nothing
 *   can be put to or got from an area registered with size 0.
 * Cases: put_last get_last put_whole get_whole put_empty get_empty put_overflow get_overflow
 * Exit: 6
 * Stderr if 'last' in case: .*: .*offset 12 \+ 1 bytes is beyond the 12 bytes registered
 * Stderr if 'whole' in case: .*: .*offset 0 \+ 13 bytes is beyond the 12 bytes registered
 * Stderr if 'empty' in case: .*: .*offset 0 \+ 1 bytes is beyond the 0 bytes registered
 * Stderr if 'overflow' in case: .*: .*offset 2147483647 \+ 8 bytes is beyond the 12 bytes
 */
#include <limits.h>
#include <string.h>

#include "bsp.h"

#define CASE(name) (strcmp(which, #name) == 0)

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  char area[20] = "", empty[20] = "", x[20] = "";
  bsp_begin(bsp_nprocs());
  bsp_push_reg(area, 12);
  bsp_push_reg(empty, 0);
  bsp_sync();
  if (bsp_pid() == 0) {
    int last = bsp_nprocs() - 1;
    if (CASE(put_last)) bsp_put(last, x, area, 12, 1);
    if (CASE(get_last)) bsp_get(last, area, 12, x, 1);
    if (CASE(put_whole)) bsp_put(last, x, area, 0, 13);
    if (CASE(get_whole)) bsp_get(last, area, 0, x, 13);
    if (CASE(put_empty)) bsp_put(last, x, empty, 0, 1);
    if (CASE(get_empty)) bsp_get(last, empty, 0, x, 1);
    if (CASE(put_overflow)) bsp_put(last, x, area, INT_MAX, 8);
    if (CASE(get_overflow)) bsp_get(last, area, INT_MAX, x, 8);
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
