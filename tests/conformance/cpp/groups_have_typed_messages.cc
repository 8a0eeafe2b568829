/* Source: bsp.hpp, statement 12
 * Claim: Elements and ranges are sent in a group, to one process or to several, buffered or not.
 *   They are looked at in any order and again, may be changed, and name their source.
 */
#include <bsp.hpp>
#include <vector>

#include "expect.h"

struct Edge {
  int from, to;
};

static void EachToEach(bsp::group& all) {
  const int p = all.nprocs(), me = all.pid();
  std::vector<Edge> pair(2, Edge{-1, me});
  for (int pid = 0; pid < p; pid++) {
    Edge edge{me, pid};
    all.send(pid, edge);
    edge.from = -7;
    all.hpsend(pid, pair);
  }
  all.sync();
  const auto messages = all.messages<Edge>();
  EXPECT_EQ(messages.size(), 2 * p);
  for (int turn = 0; turn < 2; turn++) {
    int i = 0;
    for (auto& m : messages) {
      EXPECT_EQ(m.source(), i / 2);
      EXPECT_EQ(m.size(), i % 2 + 1);
      EXPECT_EQ(m[0].from, i % 2 == 0 ? i / 2 : -1);
      i++;
    }
    EXPECT_EQ(i, 2 * p);
  }
  for (int source = p - 1; source >= 0; source--) {
    EXPECT_EQ(messages[2 * source].value().to, me);
    int of_source = 0;
    for (auto& m : messages.from(source)) {
      EXPECT_EQ(m.source(), source);
      of_source += static_cast<int>(m.size());
    }
    EXPECT_EQ(of_source, 3);
    EXPECT_EQ(messages.from(source)[1][1].to, source);
  }
  messages[0].value().to += 5;
  EXPECT_EQ(messages[0].value().to, me + 5);
}

static void ToSeveral(bsp::group& all) {
  const int p = all.nprocs(), me = all.pid();
  if (me == 0) all.send(p / 2, p - 1, std::vector<double>(5000, 0.5));
  if (me == p - 1) all.hpsend(0, p - 1, 'x');
  all.sync();
  int doubles = 0, chars = 0;
  for (auto& m : all.messages<char>()) (m.size() == 1 ? chars : doubles) += 1;
  EXPECT_EQ(chars, 1);
  EXPECT_EQ(doubles, me >= p / 2);
  if (doubles != 0) {
    const auto m = all.messages<double>()[0];
    EXPECT_EQ(m.size(), 5000);
    m[4999] += 1;
    EXPECT(m[4999] == 1.5 && m[0] == 0.5);
  }
}

int main() {
  bsp::run([](bsp::world& world) {
    bsp::group all(world);
    EachToEach(all);
    ToSeveral(all);
    all.sync();
    EXPECT_EQ(all.messages<int>().size(), 0);
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
