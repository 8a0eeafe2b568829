#include "base/superstep_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace bspnow {
namespace {

TEST(BeyondNsTest, IsOfAProcessOnAverageAndNeverBelowZero) {
  EXPECT_EQ(BeyondNs(300, 2, 100), 50u);
  EXPECT_EQ(BeyondNs(300, 2, 150), 0u);
  EXPECT_EQ(BeyondNs(300, 2, 151), 0u);
}

TEST(DurationCountsTest, ABucketHoldsWhatItsMiddleIsNear) {
  for (std::uint64_t ns = 0; ns < std::uint64_t{1} << 40; ns = ns * 17 / 16 + 1) {
    const std::size_t bucket = DurationBucket(ns);
    ASSERT_LT(bucket, kDurationBuckets);
    const std::uint64_t middle = DurationOf(bucket);
    ASSERT_EQ(DurationBucket(middle), bucket);
    ASSERT_LE(std::max(ns, middle) - std::min(ns, middle), ns / 16) << ns;
  }
  EXPECT_EQ(DurationBucket(~std::uint64_t{0}), kDurationBuckets - 1);
}

TEST(DurationCountsTest, BucketsAscend) {
  for (std::size_t bucket = 1; bucket < kDurationBuckets; ++bucket)
    ASSERT_LT(DurationOf(bucket - 1), DurationOf(bucket));
}

TEST(DurationCountsTest, TellsTheMedian) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> durations(8, 2);
  std::vector<std::uint64_t> all;
  std::vector<std::uint32_t> counts(kDurationBuckets);
  EXPECT_EQ(MedianOf(counts, 0), 0u);
  for (int i = 0; i < 10'001; ++i) {
    all.push_back(static_cast<std::uint64_t>(durations(random)));
    counts[DurationBucket(all.back())] += 1;
  }
  std::nth_element(all.begin(), all.begin() + 5000, all.end());
  const auto median = static_cast<double>(all[5000]);
  EXPECT_NEAR(static_cast<double>(MedianOf(counts, all.size())), median, median / 15);
}

}  // namespace
}  // namespace bspnow
