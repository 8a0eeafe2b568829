/* one_transfer.h: process 0 passes one large block to process 1 while the others wait; what is
 * common to BSP and MPI. Two uses: "time" measures; "hold" pauses after each phase, so that the
 * driver can see how much memory all processes have at that moment. */
#ifndef TESTS_BENCH_ONE_TRANSFER_H_
#define TESTS_BENCH_ONE_TRANSFER_H_

#include "measure.h"

/* Room for the times of one process; start and end of each transfer. */
enum { kTransfersMax = 64 };
typedef struct {
  double start_s[kTransfersMax], end_s[kTransfersMax];
} Times;

static inline void hold(void) {
  struct timespec pause = {0, 150 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

static inline void fill(uint64_t *block, size_t nbytes, long transfer) {
  for (size_t i = 0; i < nbytes / 8; ++i) block[i] = ((uint64_t)transfer << 48) ^ i;
}

static inline void check(const uint64_t *block, size_t nbytes, long transfer) {
  for (size_t i = 0; i < nbytes / 8; ++i)
    require(block[i] == (((uint64_t)transfer << 48) ^ i), "one large transfer");
}

/* From the start on process 0 until the last process continues. The first transfer meets no
 * buffers and the second those of the other parity at most, so neither counts as repeated. */
static inline void report_transfers(const Times *all, int nprocs, int ntransfers) {
  double repeated[kTransfersMax];
  for (int t = 0; t < ntransfers; ++t) {
    double end_s = 0;
    for (int q = 0; q < nprocs; ++q)
      if (all[q].end_s[t] > end_s) end_s = all[q].end_s[t];
    repeated[t] = end_s - all[0].start_s[t];
  }
  figure("one.cold", repeated[0]);
  figure("one.second", repeated[1]);
  figure("one", quantile(repeated + 2, ntransfers - 2, 0.5));
}

#endif /* TESTS_BENCH_ONE_TRANSFER_H_ */
