/* Source: BSPlib 1997, Halt, statement 2
 * Claim: A message of some thousand characters is printed in full.
 * Exit: 6
 * Stderr: ^begin {'x' * 20000} end$
 */
#include <string.h>

#include "bsp.h"

int main(void) {
  char text[20001];
  bsp_begin(bsp_nprocs());
  memset(text, 'x', 20000);
  text[20000] = '\0';
  if (bsp_pid() == 0) bsp_abort("begin %s end\n", text);
  bsp_end();
  return 0;
}
