/* Source: bsp.hpp, statement 5
 * Claim: Collective calls take elements and ranges, and operations with or without a state of
 *   their own, which need not commute.
 */
#include <algorithm>
#include <array>
#include <bsp.hpp>
#include <vector>

#include "expect.h"

// x -> a x + b, modulo 1009; composition does not commute.
struct Affine {
  int a, b;
  bool operator==(const Affine& other) const { return a == other.a && b == other.b; }
};
static Affine Of(int pid) { return {pid + 2, 3 * pid + 1}; }
static Affine Then(const Affine& f, const Affine& g, int modulus) {
  return {f.a * g.a % modulus, (g.a * f.b + g.b) % modulus};
}

static void Reductions(bsp::world& world) {
  const int p = world.nprocs(), me = world.pid();
  EXPECT_EQ(bsp::reduce(me + 1), p * (p + 1) / 2);
  EXPECT_EQ(bsp::scan(me + 1), (me + 1) * (me + 2) / 2);
  EXPECT_EQ(bsp::reduce(me, [](int a, int b) { return a > b ? a : b; }), p - 1);
  int calls = 0;
  int modulus = 1009;
  const auto compose = [&calls, modulus](const Affine& f, const Affine& g) {
    calls++;
    return Then(f, g, modulus);
  };
  Affine all = Of(0), mine = Of(0);
  for (int pid = 1; pid < p; pid++) {
    all = Then(all, Of(pid), modulus);
    if (pid <= me) mine = Then(mine, Of(pid), modulus);
  }
  EXPECT(bsp::reduce(Of(me), compose) == all);
  EXPECT(p == 1 || calls > 0);
  EXPECT(bsp::scan(Of(me), compose) == mine);
}

static void Elements(bsp::world& world) {
  const int p = world.nprocs(), me = world.pid();
  std::vector<long> sums(50000, 1);
  bsp::reduce_elements(sums);
  for (const long x : sums) EXPECT_EQ(x, p);
  std::array<int, 3> prefixes{me, -me, 1};
  bsp::scan_elements(prefixes, [](int a, int b) { return std::max(a, b); });
  EXPECT(prefixes[0] == me && prefixes[1] == 0 && prefixes[2] == 1);
  std::vector<int> nothing;
  bsp::reduce_elements(nothing);
}

static void Movements(bsp::world& world) {
  const int p = world.nprocs(), me = world.pid(), root = p - 1;
  double x = me == root ? 2.5 : 0.0;
  bsp::broadcast(root, x);
  EXPECT(x == 2.5);
  std::vector<int> many(100000, me);
  bsp::broadcast(root, many);
  EXPECT(std::count(many.begin(), many.end(), root) == 100000);
  const std::vector<int> all = bsp::gather(root, me * me);
  EXPECT_EQ(all.size(), me == root ? p : 0);
  for (int pid = 0; pid < static_cast<int>(all.size()); pid++) EXPECT_EQ(all[pid], pid * pid);
  std::vector<int> blocks;
  if (me == root) {
    for (int i = 0; i < 2 * p; i++) blocks.push_back(i);
  }
  int pair[2] = {-1, -1};
  bsp::scatter(root, blocks, pair);
  EXPECT(pair[0] == 2 * me && pair[1] == 2 * me + 1);
  const bsp::array<int> shared(2 * std::size_t(p), 3);
  bsp::scatter(root, shared, pair);
  EXPECT(pair[0] == 3 && pair[1] == 3);
  bsp::scatter(root, bsp::view<int>(blocks.data(), blocks.size()), pair);
  EXPECT(pair[0] == 2 * me && pair[1] == 2 * me + 1);
  std::vector<int> out;
  for (int pid = 0; pid < p; pid++) out.push_back(100 * me + pid);
  const std::vector<int> in = bsp::exchange(out);
  for (int pid = 0; pid < p; pid++) EXPECT_EQ(in[pid], 100 * pid + me);
}

int main() {
  bsp::run([](bsp::world& world) {
    Reductions(world);
    Elements(world);
    Movements(world);
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
