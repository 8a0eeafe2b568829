/* Source: bsp.hpp, statement 3
 * Claim: A registration is valid as long as its object, which can be moved; puts of the
 *   superstep in which an array ends go nowhere else.
 */
#include <bsp.hpp>
#include <utility>
#include <vector>

#include "expect.h"

static void OwnMemory(bsp::world& world, int next, int previous) {
  std::vector<int> own(3, -1);
  {
    const bsp::registration<int> first(own.data(), 1);
    world.sync();
    {
      bsp::registration all(own);  // Of the range's elements.
      world.sync();
      const bsp::registration<int> moved(std::move(all));
      moved.put(next, world.pid(), 2);
      world.sync();
      EXPECT(own[0] == -1 && own[2] == previous);
    }
    world.sync();
    first.put(next, world.pid());  // The older one is valid again.
    world.sync();
    EXPECT(own[0] == previous && own[1] == -1);
  }
  world.sync();
}

// What the allocator gives out next is not written by a put into an array that is gone.
static void LastPuts(bsp::world& world, int next) {
  constexpr std::size_t kSize = 1000;
  for (int turn = 0; turn < 10; turn++) {
    {
      bsp::array<int> ends(kSize);
      world.sync();
      ends.put(next, std::vector<int>(kSize, 77));
    }
    const std::vector<int> after(kSize + 16, 5);
    world.sync();
    for (const int x : after) EXPECT_EQ(x, 5);
  }
}

// A collective call ends the superstep, and so is a barrier after the end of an array, too.
static void LastPutsBeforeACollectiveCall(bsp::world& world, int next) {
  for (int turn = 0; turn < 3; turn++) {
    {
      bsp::array<int> ends(1000);
      bsp::reduce(turn);
      ends.put(next, std::vector<int>(1000, 77));
    }
    const std::vector<int> after(1016, 5);
    EXPECT_EQ(bsp::reduce(1), world.nprocs());
    for (const int x : after) EXPECT_EQ(x, 5);
  }
}

static void Moved(bsp::world& world, int next, int previous) {
  std::vector<bsp::array<int>> rows;  // Grows, and moves its arrays.
  for (int row = 0; row < 5; row++) rows.emplace_back(std::size_t(2), row);
  world.sync();
  for (int row = 0; row < 5; row++) rows[row].put(next, 10 * world.pid() + row, 1);
  world.sync();
  for (int row = 0; row < 5; row++) {
    EXPECT_EQ(rows[row][0], row);
    EXPECT_EQ(rows[row][1], 10 * previous + row);
  }
  rows[0] = std::move(rows[4]);
  rows.pop_back();
  world.sync();
  EXPECT_EQ(rows[0][0], 4);
}

int main() {
  bsp::run([](bsp::world& world) {
    const int p = world.nprocs();
    const int next = (world.pid() + 1) % p, previous = (world.pid() + p - 1) % p;
    OwnMemory(world, next, previous);
    LastPuts(world, next);
    LastPutsBeforeACollectiveCall(world, next);
    Moved(world, next, previous);
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
