// bench_puts_typed SECONDS: bench_puts.c by bsp.hpp.
#include <bsp.hpp>

#include "measure.h"

namespace {

constexpr int kSmallPuts = 4096, kLargePuts = 8, kLargeNumbers = (1 << 20) / 8;

void Measure(bsp::world& world, const char* name, double seconds, bsp::array<double>& area,
             const std::vector<double>& source, int puts, int count) {
  const int next = (world.pid() + 1) % world.nprocs();
  std::vector<double> samples;
  bsp::array<int> going(1, 1);
  world.sync();
  const double end_s = now_s() + seconds;
  const bsp::view<const double> part(source.data(), static_cast<std::size_t>(count));
  while (going[0]) {
    const double start_s = now_s();
    for (int i = 0; i < puts; ++i) area.put(next, part, static_cast<std::size_t>(i) * count);
    world.sync();
    samples.push_back((now_s() - start_s) / puts);
    const int more = now_s() < end_s;
    for (int pid = 0; world.pid() == 0 && pid < world.nprocs(); ++pid) going.put(pid, more);
    world.sync();
  }
  require(area[0] == source[0] && area[puts * count - 1] == source[count - 1], name);
  if (world.pid() == 0)
    figure(name, quantile(samples.data(), static_cast<long>(samples.size()), 0.5));
}

}  // namespace

int main(int argc, char** argv) {
  bsp::run([=](bsp::world& world) {
    require(argc == 2, "usage: bench_puts_typed SECONDS");
    bsp::array<double> area(kLargePuts * kLargeNumbers);
    std::vector<double> source(kLargeNumbers);
    for (int i = 0; i < kLargeNumbers; ++i) source[i] = i + 1.5;
    world.sync();
    Measure(world, "put.8", atof(argv[1]), area, source, kSmallPuts, 1);
    Measure(world, "put.1048576", atof(argv[1]), area, source, kLargePuts, kLargeNumbers);
  });
  return 0;
}
