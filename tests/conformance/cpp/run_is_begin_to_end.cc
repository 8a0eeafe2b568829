/* Source: bsp.hpp, statement 1
 * Claim: bsp::run runs its function on min(maxprocs, p) processes; the world knows pid, p and
 *   time.
 * Cases: all two
 */
#include "expect.h"

#include <bsp.hpp>
#include <cstdio>
#include <cstring>

static int runs = 0;

static void Spmd(bsp::world& world, int procs) {
  EXPECT_EQ(world.nprocs(), procs);
  EXPECT_EQ(world.pid(), bsp_pid());
  EXPECT(world.time() >= 0.0);
  runs++;
  bsp::array<int> pids(static_cast<std::size_t>(procs), -1);
  world.sync();
  for (int pid = 0; pid < procs; pid++) pids.put(pid, world.pid(), world.pid());
  world.sync();
  for (int pid = 0; pid < procs; pid++) EXPECT_EQ(pids[pid], pid);
  if (world.pid() == 0) std::puts("ok");
}

int main(int argc, char** argv) {
  const int available = bsp_nprocs();
  const int procs = available < 2 ? available : 2;
  if (argc > 1 && std::strcmp(argv[1], "two") == 0) {
    bsp::run(2, [procs](bsp::world& world) { Spmd(world, procs); });
  } else {
    bsp::run([available](bsp::world& world) { Spmd(world, available); });
  }
  return runs == 1 ? 0 : 1;
}
