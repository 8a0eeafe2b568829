/* bench_one_put time|hold N NBYTES: pid 0 puts NBYTES to pid 1, N times; see one_transfer.h. */
#include <bsp.h>
#include "one_transfer.h"

static uint64_t *block;
static int nbytes;

/* A superstep more before every other put: puts then come from both parities of superstep, as they
 * do in a program. */
static void align(int t) {
  bsp_sync();
  if (t % 2 == 1) bsp_sync();
}

static void transfer(void) {
  if (bsp_pid() == 0) bsp_put(1, block, block, 0, nbytes);
}

static void time_transfers(int ntransfers) {
  static Times mine;
  Times *all = allocate((size_t)bsp_nprocs() * sizeof(Times));
  bsp_push_reg(all, bsp_nprocs() * (int)sizeof(Times));
  for (int t = 0; t < ntransfers; ++t) {
    if (bsp_pid() == 0) fill(block, (size_t)nbytes, t + 1);
    align(t);
    mine.start_s[t] = now_s();
    transfer();
    bsp_sync();
    mine.end_s[t] = now_s();
    if (bsp_pid() == 1) check(block, (size_t)nbytes, t + 1);
  }
  bsp_put(0, &mine, all, bsp_pid() * (int)sizeof mine, sizeof mine);
  bsp_sync();
  if (bsp_pid() == 0) report_transfers(all, bsp_nprocs(), ntransfers);
}

static void hold_transfers(int ntransfers) {
  for (int t = 0; t < ntransfers; ++t) {
    transfer();
    hold();
    bsp_sync();
    hold();
  }
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  require(argc == 4 && bsp_nprocs() >= 2, "usage: bench_one_put time|hold N NBYTES");
  int ntransfers = atoi(argv[2]);
  require(ntransfers >= 1 && ntransfers <= kTransfersMax, "1 <= N <= 64");
  nbytes = atoi(argv[3]);
  int taking_part = bsp_pid() <= 1;
  if (taking_part) block = allocate((size_t)nbytes);
  bsp_push_reg(block, taking_part ? nbytes : 0);
  bsp_sync();
  if (strcmp(argv[1], "time") == 0)
    time_transfers(ntransfers);
  else
    hold_transfers(ntransfers);
  bsp_end();
  return 0;
}
