/* Source: bsp.hpp, statement 4
 * Claim: Elements and ranges are sent, with a tag or without; the queue is a range of messages,
 *   in the order of pid and issue; a loop that is left early leaves the rest.
 */
#include <bsp.hpp>
#include <vector>

#include "expect.h"

struct Edge {
  int from, to;
};

static void WithoutTags(bsp::world& world) {
  const int p = world.nprocs();
  for (int pid = 0; pid < p; pid++) {
    bsp::send(pid, Edge{world.pid(), pid});
    bsp::hpsend(pid, std::vector<Edge>(2, Edge{-1, world.pid()}));
  }
  world.sync();
  EXPECT_EQ(bsp::messages<Edge>().size(), 2 * p);
  int taken = 0;
  for (auto& message : bsp::messages<Edge>()) {
    const int source = taken / 2;
    if (taken % 2 == 0) {
      EXPECT(message.value().from == source && message.value().to == world.pid());
    } else {
      EXPECT_EQ(message.size(), 2);
      for (const Edge& edge : message) EXPECT(edge.from == -1 && edge.to == source);
    }
    taken++;
  }
  EXPECT_EQ(taken, 2 * p);
  EXPECT_EQ(bsp::messages<Edge>().size(), 0);
}

static void WithTags(bsp::world& world, int next) {
  bsp::set_tag<short>();
  bsp::send(next, 1.0);  // Without a tag: the new size is that of the next superstep.
  world.sync();
  EXPECT_EQ((bsp::messages<double>().size()), 1);
  for (short i = 0; i < 3; i++) bsp::send(next, 0.5 * i, i);
  bsp::hpsend(next, std::vector<double>(), static_cast<short>(3));
  world.sync();
  for (auto& message : bsp::messages<double, short>()) {
    EXPECT_EQ(message.tag(), 0);
    EXPECT(message.value() == 0.0);
    break;
  }
  EXPECT_EQ((bsp::messages<double, short>().size()), 3);
  short wanted = 1;
  for (auto& message : bsp::messages<double, short>()) {
    EXPECT_EQ(message.tag(), wanted);
    EXPECT_EQ(message.size(), wanted == 3 ? 0 : 1);
    wanted++;
  }
  bsp::set_tag<void>();
  world.sync();
  bsp::send(next, 'x');
  world.sync();
  for (auto& message : bsp::messages<char>()) EXPECT_EQ(message.value(), 'x');
}

int main() {
  bsp::run([](bsp::world& world) {
    WithoutTags(world);
    WithTags(world, (world.pid() + 1) % world.nprocs());
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
