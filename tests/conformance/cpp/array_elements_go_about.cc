/* Source: bsp.hpp, statement 2
 * Claim: Elements and ranges of them are put into and got from an array of another process,
 *   buffered, unbuffered and at once; positions count elements; what an element is does not
 *   matter.
 */
#include <array>
#include <bsp.hpp>
#include <string>
#include <vector>

#include "expect.h"

struct Point {
  double x;
  short weight;
  bool operator==(const Point& other) const { return x == other.x && weight == other.weight; }
};

static void Points(bsp::world& world, int next, int previous) {
  bsp::array<Point> points(4, Point{-1.0, 0});
  const bsp::array<Point> same_size_elsewhere(std::size_t(world.pid()));
  world.sync();
  const Point mine{world.pid() + 0.5, static_cast<short>(world.pid())};
  points.put(next, mine, 1);
  points.put(next, std::vector<Point>{mine, mine}, 2);
  Point got{};
  points.get(next, 0, got);
  world.sync();
  const Point wanted{previous + 0.5, static_cast<short>(previous)};
  EXPECT(points[0] == (Point{-1.0, 0}) && points[1] == wanted);
  EXPECT(points[2] == wanted && points[3] == wanted);
  EXPECT(got == (Point{-1.0, 0}));
  EXPECT(points.direct_get(next, 3) == mine);
  EXPECT_EQ(points.size(), 4);
  EXPECT_EQ(same_size_elsewhere.size(), world.pid());
}

static void Ranges(bsp::world& world, int next, int previous) {
  constexpr std::size_t kMany = 10000;  // More than is buffered, where it need not be.
  bsp::array<int> numbers(2 * kMany);
  std::vector<int> mine(kMany, world.pid()), got(kMany), got_unbuffered(kMany);
  world.sync();
  numbers.hpput(next, mine, kMany);
  world.sync();
  for (const int x : numbers.slice(0, kMany)) EXPECT_EQ(x, 0);
  for (const int x : numbers.slice(kMany, kMany)) EXPECT_EQ(x, previous);
  numbers.get(next, kMany, got);
  numbers.hpget(next, kMany, got_unbuffered);
  world.sync();
  for (std::size_t i = 0; i < kMany; i++) {
    EXPECT_EQ(got[i], world.pid());
    EXPECT_EQ(got_unbuffered[i], world.pid());
  }
  int few[3] = {7, 8, 9};
  numbers.put(next, few);
  numbers.put(next, numbers.slice(kMany, 2), 3);
  world.sync();
  const int before = (previous + world.nprocs() - 1) % world.nprocs();
  EXPECT(numbers[0] == 7 && numbers[2] == 9 && numbers[3] == before && numbers[5] == 0);
}

static void Arrays(bsp::world& world, int next, int previous) {
  bsp::array<std::array<int, 2>> pairs(2);  // An element that is a range itself.
  bsp::array<char> text(8, '.');
  world.sync();
  pairs.put(next, std::array<int, 2>{world.pid(), 5}, 1);
  text.put(next, std::string("abc"), 2);
  world.sync();
  EXPECT(pairs[1][0] == previous && pairs[1][1] == 5 && pairs[0][0] == 0);
  EXPECT(std::string(text.begin(), text.end()) == "..abc...");
}

int main() {
  bsp::run([](bsp::world& world) {
    const int p = world.nprocs();
    const int next = (world.pid() + 1) % p, previous = (world.pid() + p - 1) % p;
    Points(world, next, previous);
    Ranges(world, next, previous);
    Arrays(world, next, previous);
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
