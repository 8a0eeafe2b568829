/* skewed SUPERSTEPS W_US LATE_US BYTES: costs that are known beforehand. In each superstep each
 * process computes for W_US, and the last one for LATE_US more; in every second superstep each puts
 * BYTES to the next. Then pid 0 prints for how many microseconds it was between bsp_begin and the
 * last bsp_sync. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

static void compute(int us) {
  const double end_s = bsp_time() + us * 1e-6;
  while (bsp_time() < end_s) {
  }
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  const double start_s = bsp_time();
  if (argc != 5) bsp_abort("skewed SUPERSTEPS W_US LATE_US BYTES\n");
  const int supersteps = atoi(argv[1]), w_us = atoi(argv[2]), late_us = atoi(argv[3]);
  const int bytes = atoi(argv[4]), pid = bsp_pid(), p = bsp_nprocs();
  char *from = calloc(1, (size_t)bytes), *area = calloc(1, (size_t)bytes);
  bsp_push_reg(area, bytes);
  bsp_sync();
  for (int s = 0; s < supersteps; ++s) {
    compute(w_us + (pid == p - 1 ? late_us : 0));
    if (s % 2 == 1) bsp_put((pid + 1) % p, from, area, 0, bytes);
    bsp_sync();
  }
  if (pid == 0) printf("%.0f\n", (bsp_time() - start_s) * 1e6);
  bsp_end();
  return 0;
}
