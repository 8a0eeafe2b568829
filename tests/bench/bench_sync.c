/* bench_sync SECONDS [PAUSE_US]: what an empty bsp_sync takes, one after another, or after every
 * process has computed for so many microseconds. */
#include "agree_bsp.h"
#include "measure.h"

static void empty_superstep(void *context) {
  const double *pause_s = context;
  compute_for(*pause_s);
  bsp_sync();
}

/* A barrier that lets one process through early would show here. */
static void check_barrier(void) {
  static long left_neighbour;
  int pid = bsp_pid(), nprocs = bsp_nprocs();
  bsp_push_reg(&left_neighbour, sizeof left_neighbour);
  bsp_sync();
  for (long superstep = 1; superstep <= 100; ++superstep) {
    bsp_put((pid + 1) % nprocs, &superstep, &left_neighbour, 0, sizeof superstep);
    bsp_sync();
    require(left_neighbour == superstep, "bsp_sync returned before the put had arrived");
  }
  bsp_pop_reg(&left_neighbour);
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  double budget_s = argc > 1 ? atof(argv[1]) : 1.0, pause_s = argc > 2 ? 1e-6 * atof(argv[2]) : 0;
  agree_begin();
  check_barrier();
  Timing timing = beside(pause_s, measure(empty_superstep, &pause_s, agree, budget_s, 1e-3));
  check_barrier();
  if (bsp_pid() == 0) {
    report("sync", timing);
    figure("sync.steps", (double)timing.nsteps);
  }
  bsp_end();
  return 0;
}
