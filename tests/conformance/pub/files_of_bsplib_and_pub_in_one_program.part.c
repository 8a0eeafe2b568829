/* The part of files_of_bsplib_and_pub_in_one_program.c that uses BSPlib. */
#include <bsp.h>

int LeftByBsplib(int value);

int LeftByBsplib(int value) {
  int left = -1;
  bsp_push_reg(&left, sizeof left);
  bsp_sync();
  bsp_put((bsp_pid() + 1) % bsp_nprocs(), &value, &left, 0, sizeof value);
  bsp_pop_reg(&left);
  bsp_sync();
  return left;
}
