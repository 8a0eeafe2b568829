/* Source: bsp.hpp, statement 14
 * Claim: Reductions and scans of a group do not end its superstep. Their results are there when it
 *   has ended, in the order of the pids, by an operation of any kind.
 */
#include <bsp.hpp>
#include <string>
#include <vector>

#include "expect.h"

// x -> a x + b, modulo 1009; composition does not commute.
struct Affine {
  int a, b;
};
static Affine Of(int pid) { return {pid + 2, 3 * pid + 1}; }
static Affine Then(const Affine& f, const Affine& g) {
  return {f.a * g.a % 1009, (g.a * f.b + g.b) % 1009};
}

static void Values(bsp::group& group) {
  const int p = group.nprocs(), me = group.pid();
  int sum = -1, least = -1, calls = 0;
  Affine all{}, mine = Of(me);
  group.reduce(me + 1, sum);
  group.reduce(p - me, least, [](int a, int b) { return a < b ? a : b; });
  group.reduce(mine, all, Then);
  // More state than goes along with a call: it stays here.
  const auto counted = [&calls, by = std::string("a name that is kept")](const Affine& f,
                                                                         const Affine& g) {
    calls += by.size() == 19 ? 1 : 100;
    return Then(f, g);
  };
  group.scan(mine, mine, counted);
  EXPECT_EQ(sum, -1);
  EXPECT_EQ(calls, 0);
  group.sync();
  EXPECT_EQ(sum, p * (p + 1) / 2);
  EXPECT_EQ(least, 1);
  EXPECT_EQ(calls, me);
  Affine expected = Of(0);
  for (int pid = 1; pid < p; pid++) {
    if (pid == me + 1) EXPECT(mine.a == expected.a && mine.b == expected.b);
    expected = Then(expected, Of(pid));
  }
  EXPECT(all.a == expected.a && all.b == expected.b);
}

static void Elements(bsp::group& group) {
  const int p = group.nprocs(), me = group.pid();
  std::vector<double> sums(3000, 0.5);
  int prefixes[3] = {me, 1, -me};
  int factor = 2;
  group.reduce_elements(sums);
  group.scan_elements(prefixes, [&factor](int a, int b) { return a + factor * b / 2; });
  group.sync();
  for (const double x : sums) EXPECT(x == 0.5 * p);
  EXPECT_EQ(prefixes[0], me * (me + 1) / 2);
  EXPECT_EQ(prefixes[1], me + 1);
  EXPECT_EQ(prefixes[2], -me * (me + 1) / 2);
}

int main() {
  bsp::run([](bsp::world& world) {
    const int p = world.nprocs();
    bsp::group all(world);
    Values(all);
    Elements(all);
    bsp::group part = all.partition({(p + 1) / 3, p});
    Values(part);
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
