// sort_numbers.cc: sorts random numbers by regular sampling (Shi and Schaeffer, 1992), with the
// typed interface for C++. sample_sort.cc does the same for lines of text, with bsp.h.
//
//   bspc++ -O2 sort_numbers.cc -o sort_numbers
//   bsprun -n 4 ./sort_numbers --n=10000000 --verify
//
// Supersteps, for n numbers of 8 bytes:
//   0  process 0 tells n:                                              h = 4 p
//   1  each makes and sorts n/p numbers, and puts p of them, at equal
//      distances, into an array of everybody's samples:                w = n log n / p, h = 8 p^2
//   2  from all samples each takes the same p - 1 splitters, and sends
//      every process the numbers between two of them:                  w = p^2 log p, h = 8 * 2 n/p
//   3  each merges the p runs that it got:                             w = 2 n/p log p
// Then process 0 gets the least, the middle and the greatest number, and with --verify all.
#include <err.h>
#include <getopt.h>

#include <algorithm>
#include <bsp.hpp>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "distribution.h"
#include "options.h"

namespace {

constexpr char kUsage[] =
    "usage: sort_numbers [--n=N] [--verify]\n"
    "Sorts N random numbers.\n"
    "  --n=N     how many, at least 1 (default 1000000)\n"
    "  --verify  compare with a sequential sort\n";

using Number = std::uint64_t;
using Numbers = std::vector<Number>;

// What the SPMD part takes from the sequential part of process 0, and gives back to it.
int n = 1000000;
bool verify = false;
Numbers sorted;         ///< All of them, if they are to be verified.
Number at_quarters[3];  ///< The least, the middle and the greatest one.
double seconds;

/// The i-th of the random numbers, the same on every machine (SplitMix64: Steele, Lea, Flood 2014).
Number RandomNumber(int i) {
  Number x = (static_cast<Number>(i) + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Numbers MyNumbers(const bsp::world& world) {
  Numbers mine;
  const int end = BlockBegin(n, world.nprocs(), world.pid() + 1);
  for (int i = BlockBegin(n, world.nprocs(), world.pid()); i < end; ++i) {
    mine.push_back(RandomNumber(i));
  }
  std::sort(mine.begin(), mine.end());
  return mine;
}

/// The p - 1 numbers that divide all into parts of about equal size; the same on all processes.
Numbers ChooseSplitters(bsp::world& world, const Numbers& mine) {
  const int p = world.nprocs(), size = static_cast<int>(mine.size());
  bsp::array<Number> samples(static_cast<std::size_t>(p) * p, UINT64_MAX);
  world.sync();
  Numbers chosen;
  for (int i = 0; i < std::min(p, size); ++i) chosen.push_back(mine[BlockBegin(size, p, i)]);
  for (int pid = 0; pid < p; ++pid)
    samples.put(pid, chosen, static_cast<std::size_t>(p) * world.pid());
  world.sync();
  std::sort(samples.begin(), samples.end());
  Numbers splitters;
  for (int i = 1; i < p; ++i) splitters.push_back(samples[static_cast<std::size_t>(p) * i]);
  return splitters;
}

/// This process's part of the sorted numbers: those between two splitters.
Numbers Sort(bsp::world& world) {
  const Numbers mine = MyNumbers(world);
  const Numbers splitters = ChooseSplitters(world, mine);
  auto begin = mine.begin();
  for (int pid = 0; pid < world.nprocs(); ++pid) {
    const auto end = pid + 1 == world.nprocs()
                         ? mine.end()
                         : std::lower_bound(begin, mine.end(), splitters[pid]);
    bsp::send(pid, bsp::view<const Number>(mine.data() + (begin - mine.begin()),
                                           static_cast<std::size_t>(end - begin)));
    begin = end;
  }
  world.sync();
  Numbers part;
  for (auto& run : bsp::messages<Number>()) {
    const auto middle = static_cast<std::ptrdiff_t>(part.size());
    part.insert(part.end(), run.begin(), run.end());
    std::inplace_merge(part.begin(), part.begin() + middle, part.end());
  }
  return part;
}

/// Process 0 gets numbers of given places in the whole, wherever they are.
void TellProcessZero(bsp::world& world, const Numbers& part) {
  const int size = static_cast<int>(part.size()), first = bsp::scan(size) - size;
  const bsp::registration<Number> places(at_quarters, 3);
  world.sync();
  const int wanted[] = {0, n / 2, n - 1};
  for (int i = 0; i < 3; ++i) {
    if (wanted[i] >= first && wanted[i] < first + size) places.put(0, part[wanted[i] - first], i);
  }
  if (verify) bsp::send(0, part);
  world.sync();
  for (auto& other : bsp::messages<Number>()) {
    sorted.insert(sorted.end(), other.begin(), other.end());
  }
}

void Spmd() {
  bsp::run([](bsp::world& world) {
    bsp::broadcast(0, n);
    bsp::broadcast(0, verify);
    const double start = world.time();
    const Numbers part = Sort(world);
    seconds = bsp::reduce(world.time() - start, [](double a, double b) { return std::max(a, b); });
    TellProcessZero(world, part);
  });
}

int Verify() {
  Numbers numbers;
  for (int i = 0; i < n; ++i) numbers.push_back(RandomNumber(i));
  std::sort(numbers.begin(), numbers.end());
  if (numbers != sorted) errx(kExitFailed, "verification failed: a sequential sort differs");
  if (at_quarters[0] != numbers.front() || at_quarters[1] != numbers[n / 2] ||
      at_quarters[2] != numbers.back()) {
    errx(kExitFailed, "verification failed: the least, middle or greatest number is wrong");
  }
  std::printf("verified: %d numbers as by a sequential sort\n", n);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  static const option kOptions[] = {{"n", required_argument, nullptr, 'n'},
                                    {"verify", no_argument, nullptr, 'v'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {nullptr, 0, nullptr, 0}};
  bsp_init(Spmd, argc, argv);  // Only process 0 comes back from here; the others wait in bsp::run.
  int name;
  while ((name = getopt_long(argc, argv, "h", kOptions, nullptr)) != -1) {
    if (name == 'n')
      n = IntegerOption("--n", optarg, 1, INT_MAX / 2);
    else if (name == 'v')
      verify = true;
    else
      ExitWithUsage(name, kUsage);
  }
  if (optind < argc) errx(kExitUsage, "no arguments but options are expected; see --help");

  Spmd();

  std::printf("%d numbers from %016jx by %016jx to %016jx, %.3f s\n", n,
              static_cast<std::uintmax_t>(at_quarters[0]),
              static_cast<std::uintmax_t>(at_quarters[1]),
              static_cast<std::uintmax_t>(at_quarters[2]), seconds);
  return verify ? Verify() : 0;
}
