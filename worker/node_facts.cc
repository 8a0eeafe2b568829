#include "worker/node_facts.h"

#include <absl/strings/str_split.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/cgroup.h"
#include "base/clock.h"

namespace bspnow::worker {
namespace {

constexpr double kLoadStep = 0.25;      // A smaller change is no news,
constexpr double kLoadStepPart = 0.25;  // nor is one by a smaller part.
constexpr std::uint64_t kMeasureNs = 50'000'000;
constexpr double kNsPerS = 1e9;

// Independent chains, so that they overlap as in dense loops over arrays in the cache.
constexpr int kLanes = 64;
constexpr int kSteps = 4096;

double MeasureFlops() {
  alignas(64) double sums[kLanes] = {};
  alignas(64) double factors[kLanes];
  for (int i = 0; i < kLanes; ++i) factors[i] = 1.0 / (i + 2);
  const std::uint64_t start = ProcessorNs();  // Others may be using the processor, too.
  std::uint64_t now = start;
  double flops = 0;
  while (now - start < kMeasureNs) {
    for (int step = 0; step < kSteps; ++step) {
      for (int i = 0; i < kLanes; ++i) sums[i] = sums[i] * factors[i] + factors[i];
    }
    flops += 2.0 * kSteps * kLanes;
    now = ProcessorNs();
  }
  // Looked at, so that the compiler must compute them.
  volatile double seen = 0;
  for (const double sum : sums) seen = seen + sum;
  return flops * kNsPerS / static_cast<double>(now - start);
}

}  // namespace

std::uint32_t UsableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  auto usable = static_cast<std::uint32_t>(CPU_COUNT(&set));
  for (const char* const controller : {"", "cpu"}) {
    const std::uint32_t ours = CgroupProcessors(OwnCgroup(controller));
    if (ours != 0) usable = std::min(usable, ours);
  }
  return usable;
}

std::vector<std::string> CpuFeatures() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("flags", 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) break;
    std::vector<std::string> features =
        absl::StrSplit(line.substr(colon + 1), ' ', absl::SkipEmpty());
    std::sort(features.begin(), features.end());
    return features;
  }
  return {};
}

double LoadAverage() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

bool IsNewsOfLoad(double load, double reported) {
  return std::abs(load - reported) >= std::max(kLoadStep, kLoadStepPart * reported);
}

double FlopsOf(const std::string& file) {
  double flops = 0;
  if (std::ifstream in(file); in >> flops && flops > 0) return flops;
  flops = MeasureFlops();
  std::ofstream(file) << flops << "\n";
  return flops;
}

}  // namespace bspnow::worker
