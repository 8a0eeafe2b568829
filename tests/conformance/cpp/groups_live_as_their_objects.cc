/* Source: bsp.hpp, statement 15
 * Claim: A group is open as long as its object, which can be moved; one that is assigned to closes
 *   the group that it had. An exception that is caught closes those that it leaves.
 */
#include <bsp.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "expect.h"

static bsp::group Made(bsp::world& world) {
  bsp::group all(world);
  return all;
}

static void TalkIn(bsp::group& group) {
  group.send((group.pid() + 1) % group.nprocs(), group.pid());
  group.sync();
  EXPECT_EQ(group.messages<int>()[0].value(), (group.pid() + group.nprocs() - 1) % group.nprocs());
}

static void ThrowIn(bsp::group& all) {
  try {
    bsp::group left = all.dup();
    bsp::group later = left.partition({1, left.nprocs()});
    if (left.nprocs() > 0) throw std::runtime_error("no more");
    TalkIn(later);
  } catch (const std::runtime_error&) {
  }
  TalkIn(all);
}

int main() {
  bsp::run([](bsp::world& world) {
    // Were one not closed, there would be no room, or bsp_end would name it.
    for (int turn = 0; turn < 300; turn++) {
      bsp::group all = Made(world);
      if (turn % 100 == 0) TalkIn(all);
    }
    std::optional<bsp::group> kept;
    {
      bsp::group all(world);
      all.send(all.pid(), 'k');
      const auto before = all.messages<char>();
      kept = std::move(all);
      kept->sync();
      EXPECT_EQ(kept->messages<char>()[0].value(), 'k');
      EXPECT_EQ(before.size(), 1);  // It names the group, wherever that is.
    }
    bsp::group half = kept->partition({kept->nprocs()});
    kept->sync();
    TalkIn(half);
    bsp::group other(world);  // Not made of the other ones: closed when it likes.
    half = std::move(other);
    TalkIn(half);
    kept = std::move(half);
    TalkIn(*kept);
    ThrowIn(*kept);
    kept.reset();
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
