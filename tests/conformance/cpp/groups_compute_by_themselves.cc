/* Source: bsp.hpp, statement 11
 * Claim: The processes of a world make groups and parts of them, with pids of their own; each takes
 *   as many supersteps as it likes, beside the world's puts, messages and tags.
 */
#include <bsp.hpp>
#include <vector>

#include "expect.h"

// Halves, quarters and so on; each says to its own the pid in the world of its first process.
static void Halve(bsp::group& parent, int first) {
  const int p = parent.nprocs(), upper = parent.pid() >= p / 2;
  if (p == 1) return;
  bsp::group half = parent.partition({p / 2, p});
  EXPECT_EQ(half.nprocs(), upper ? p - p / 2 : p / 2);
  EXPECT_EQ(half.pid(), parent.pid() - upper * (p / 2));
  const int begin = first + upper * (p / 2);
  for (int i = 0; i < 3 * upper; i++) half.sync();
  if (half.pid() == 0) half.send(0, half.nprocs() - 1, begin);
  half.sync();
  EXPECT_EQ(half.messages<int>()[0].value(), begin);
  Halve(half, begin);
}

static void BesideTheWorld(bsp::world& world, int next) {
  bsp::set_tag<short>();
  bsp::array<int> area(1, -1);
  world.sync();
  bsp::group all(world);
  bsp::group again = all.dup();
  area.put(next, world.pid());
  bsp::send(next, 1.5, static_cast<short>(world.pid()));
  all.send(next, 'a');
  again.send(next, 'b');
  again.sync();
  EXPECT_EQ(area[0], -1);
  EXPECT_EQ(again.messages<char>()[0].value(), 'b');
  EXPECT_EQ(all.messages<char>().size(), 0);
  world.sync();
  all.sync();
  EXPECT_EQ(all.messages<char>()[0].value(), 'a');
  EXPECT_EQ(area[0], all.messages<char>()[0].source());
  for (auto& m : bsp::messages<double, short>()) EXPECT_EQ(m.tag(), area[0]);
}

int main() {
  bsp::run([](bsp::world& world) {
    const int p = world.nprocs();
    {
      bsp::group all(world);
      EXPECT_EQ(all.pid(), world.pid());
      EXPECT_EQ(all.nprocs(), p);
      Halve(all, 0);
      std::vector<int> ends;
      for (int pid = 0; pid < p; pid++) ends.push_back(pid + 1);
      EXPECT_EQ(all.partition(ends).nprocs(), 1);
    }
    BesideTheWorld(world, (world.pid() + 1) % p);
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
