#include "tests/cluster/fault_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace bspnow {
namespace {

FaultSettings Every(std::uint64_t flip_bytes, std::uint64_t reset_bytes) {
  FaultSettings settings;
  settings.mean_bytes = {flip_bytes, reset_bytes, 0, 0};
  return settings;
}

using Hit = std::pair<Fault, unsigned>;

/// The position, kind and bit of each fault in a stream that arrives in pieces of `piece` bytes.
std::vector<std::pair<std::size_t, Hit>> Faults(std::uint64_t seed, const FaultSettings& settings,
                                                std::size_t total, std::size_t piece) {
  FaultPlan plan(seed);
  std::vector<std::pair<std::size_t, Hit>> faults;
  for (std::size_t at = 0, available = 0; at < total;) {
    if (available == 0) available = std::min(piece, total - at);
    const FaultPlan::Step step = plan.Next(settings, available);
    EXPECT_GE(step.bytes, 1u);
    EXPECT_LE(step.bytes, available);
    at += step.bytes;
    available -= step.bytes;
    if (step.faulty) faults.emplace_back(at, Hit{step.fault, step.bit});
  }
  return faults;
}

TEST(FaultPlanTest, FaultsDoNotDependOnHowBytesArrive) {
  const auto whole = Faults(7, Every(1000, 5000), 1 << 20, 1 << 20);
  EXPECT_EQ(whole, Faults(7, Every(1000, 5000), 1 << 20, 1));
  EXPECT_EQ(whole, Faults(7, Every(1000, 5000), 1 << 20, 777));
}

TEST(FaultPlanTest, AnotherSeedGivesOtherFaults) {
  EXPECT_NE(Faults(7, Every(1000, 0), 1 << 20, 4096), Faults(8, Every(1000, 0), 1 << 20, 4096));
}

TEST(FaultPlanTest, FaultsAreAsFrequentAsTheSettingsSay) {
  std::map<Fault, int> count;
  for (const auto& [at, hit] : Faults(1, Every(1000, 10000), 10'000'000, 4096)) ++count[hit.first];
  EXPECT_NEAR(count[Fault::kFlip], 10000, 500);
  EXPECT_NEAR(count[Fault::kReset], 1000, 150);
  EXPECT_EQ(count[Fault::kStall], 0);
}

TEST(FaultPlanTest, WithoutSettingsNoFaultOccurs) {
  FaultPlan plan(1);
  const FaultPlan::Step step = plan.Next(FaultSettings{}, 12345);
  EXPECT_EQ(step.bytes, 12345u);
  EXPECT_FALSE(step.faulty);
}

TEST(FaultPlanTest, EveryByteCanBeHit) {
  EXPECT_GE(Faults(1, Every(1, 0), 1000, 1000).size(), 400u);
}

}  // namespace
}  // namespace bspnow
