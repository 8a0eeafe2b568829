/* Source: BSPlib 1997, Starting and finishing, note 3
 * Claim: Process zero continues the thread that called bsp_begin: the values that local and global
 *   variables had before are there.
 */
#include "bsp.h"
#include "expect.h"

static int global = 1;
static int *local_of_main;

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) {
    EXPECT_EQ(global, 2);
    EXPECT_EQ(*local_of_main, 3);
    *local_of_main = 4;
  }
  bsp_end();
}

int main(int argc, char **argv) {
  int local;
  bsp_init(spmd, argc, argv);
  global = 2;
  local = 3;
  local_of_main = &local;
  spmd();
  EXPECT_OUTSIDE(local == 4);
  puts("ok");
  return 0;
}
