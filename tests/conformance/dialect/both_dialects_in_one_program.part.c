/* The part of both_dialects_in_one_program.c that uses the other dialect. */
#define BSP_MULTICORE
#include "bsp.h"
#include "expect.h"

void PutAndSendTheOtherWay(int *area, int value);

void PutAndSendTheOtherWay(int *area, int value) {
  unsigned next = (bsp_pid() + 1) % bsp_nprocs();
  size_t size = 2 * sizeof(int);
  bsp_put(next, &value, area, 0, sizeof(value));
  bsp_send(next, &value, &value, sizeof(value));
  bsp_set_tagsize(&size);
  EXPECT_EQ(size, sizeof(int));
}
