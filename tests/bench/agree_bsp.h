/* agree_bsp.h: Agree (measure.h) by a put of pid 0 to all. Call agree_begin after bsp_begin. */
#ifndef TESTS_BENCH_AGREE_BSP_H_
#define TESTS_BENCH_AGREE_BSP_H_

#include <bsp.h>

static long agreed_value;

static inline void agree_begin(void) {
  bsp_push_reg(&agreed_value, sizeof agreed_value);
  bsp_sync();
}

static inline long agree(long value) {
  if (bsp_pid() == 0)
    for (int pid = 0; pid < bsp_nprocs(); ++pid)
      bsp_put(pid, &value, &agreed_value, 0, sizeof value);
  bsp_sync();
  return agreed_value;
}

#endif /* TESTS_BENCH_AGREE_BSP_H_ */
