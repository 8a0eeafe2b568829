/* Source: bsp.hpp, statement 3
 * Claim: The memory of an array that has ended stays until the barrier of its own section, whatever
 *   sections are run before that, and no longer, whoever makes that barrier.
 * Procs: 1 2 4
 */
#define BSP_MULTICORE  // Sections within others.
#include <sys/resource.h>

#include <bsp.hpp>
#include <vector>

#include "expect.h"

constexpr std::size_t kSize = 1000;

// Some collective calls and barriers, and an array that has ended, in a section of this process.
static void RunAlone() {
  bsp::run(3, [](bsp::world& alone) {
    EXPECT_EQ(alone.nprocs(), 1);
    for (int turn = 0; turn < 3; turn++) {
      bsp::array<int> mine(10, turn);
      alone.sync();
      EXPECT_EQ(bsp::reduce(turn), turn);
    }
  });
}

static void AcrossSections(bsp::world& world) {
  const int next = (world.pid() + 1) % world.nprocs();
  for (int turn = 0; turn < 10; turn++) {
    {
      bsp::array<int> ends(kSize);
      world.sync();
      ends.put(next, std::vector<int>(kSize, 77));
    }
    RunAlone();
    const std::vector<std::vector<int>> after(20, std::vector<int>(kSize, 5));
    world.sync();
    for (const std::vector<int>& fives : after) {
      for (const int x : fives) EXPECT_EQ(x, 5);
    }
  }
}

static long PeakKib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// 512 KiB a turn, 200 times, is 100 MiB.
static void UntilTheBarrierOfAnotherCall() {
  const long before = PeakKib();
  for (int turn = 0; turn < 200; turn++) {
    const bsp::array<char> ends(512 << 10, 'x');
    bsp_sync();
  }
  EXPECT(PeakKib() - before < 50 << 10);
}

int main() {
  bsp::run([](bsp::world& world) {
    AcrossSections(world);
    UntilTheBarrierOfAnotherCall();
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
