/* Source: bsp.hpp, statement 3
 * Claim: The memory of an array that has ended stays until the barrier of its own section, whatever
 *   sections are run before that, and no longer, whoever makes that barrier.
 * Procs: 1 2 4
 */
#define BSP_MULTICORE  // Sections within others.
#include <bsp.hpp>
#include <cstdlib>
#include <new>
#include <vector>

#include "expect.h"

constexpr std::size_t kSize = 1000;

// Arrays are what is allocated with an alignment of its own. Those that live are counted; how much
// memory a process has says less, as a sanitizer keeps what has been freed.
static long live = 0;

void* operator new(std::size_t bytes, std::align_val_t alignment) {  // tidy: counts
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  ++live;
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {  // tidy: counts
  if (memory == nullptr) return;
  --live;
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {  // tidy: too
  operator delete(memory, alignment);  // tidy: counts
}

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

static void UntilTheBarrierOfAnotherCall() {
  const long before = live;
  for (int turn = 0; turn < 200; turn++) {
    const bsp::array<char> ends(512 << 10, 'x');
    bsp_sync();
    EXPECT(live <= before + 3);
  }
}

int main() {
  bsp::run([](bsp::world& world) {
    AcrossSections(world);
    UntilTheBarrierOfAnotherCall();
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
