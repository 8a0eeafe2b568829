/* Source: BSPlib 1997, Put, note 2
 * Claim: The source of a put need not be registered: a local variable, a part of an area, constant
 *   data.
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

static void PutLocal(int pid, char *area) {
  char local[3] = {'d', 'e', 'f'};
  bsp_put(pid, local, area, 3, 3);
}

int main(void) {
  char area[10] = "---------";
  int next;
  bsp_begin(bsp_nprocs());
  next = (bsp_pid() + 1) % bsp_nprocs();
  bsp_push_reg(area, sizeof(area));
  bsp_sync();
  bsp_put(next, "abc", area, 0, 3);
  PutLocal(next, area);
  bsp_put(next, area + 1, area, 7, 2);
  bsp_sync();
  EXPECT(strcmp(area, "abcdef---") == 0);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
