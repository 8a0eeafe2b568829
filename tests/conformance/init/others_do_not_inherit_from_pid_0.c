/* Source: BSPlib 1997, Starting and finishing, note 4
 * Claim: What process zero set before bsp_begin is not known to the others; they get it by
 *   communication.
 */
#include "bsp.h"
#include "expect.h"

static int global = 1;

static void spmd(void) {
  int pid;
  bsp_begin(bsp_nprocs());
  EXPECT_EQ(global, bsp_pid() == 0 ? 2 : 1);
  bsp_push_reg(&global, sizeof(global));
  bsp_sync();
  if (bsp_pid() == 0)
    for (pid = 1; pid < bsp_nprocs(); pid++) bsp_put(pid, &global, &global, 0, sizeof(global));
  bsp_sync();
  EXPECT_EQ(global, 2);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(spmd, argc, argv);
  global = 2;
  spmd();
  return 0;
}
