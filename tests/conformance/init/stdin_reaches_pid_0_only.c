/* Source: BSPlib 1997, Starting and finishing, statement 6
 * Source: semantics, nprocs argv stdin, statement 3
 * Claim: Standard input is read by process zero; the others find it empty.
 * Stdin: first line
 * Stdin: second line
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(void) {
  char line[80];
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) {
    EXPECT(fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "first line\n") == 0);
    EXPECT(fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "second line\n") == 0);
  }
  EXPECT(fgets(line, sizeof(line), stdin) == NULL);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
