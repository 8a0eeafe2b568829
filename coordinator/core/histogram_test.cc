#include "coordinator/core/histogram.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

TEST(HistogramTest, BucketsHoldWhatIsAtMostTheirBound) {
  Histogram histogram(1000);
  histogram.Record(0, 1);
  histogram.Record(1000, 1);
  histogram.Record(1001, 1);
  histogram.Record(2000, 1);
  histogram.Record(2001, 2);
  histogram.Record(~std::uint64_t{0} / 4, 1);
  const Histogram::Snapshot snapshot = histogram.Look();
  EXPECT_EQ(snapshot.bounds[0], 1000u);
  EXPECT_EQ(snapshot.bounds[1], 2000u);
  EXPECT_EQ(snapshot.counts[0], 2u);
  EXPECT_EQ(snapshot.counts[1], 2u);
  EXPECT_EQ(snapshot.counts[2], 2u);
  EXPECT_EQ(snapshot.counts.back(), 1u);
}

TEST(HistogramTest, EveryValueIsInTheFirstBucketThatMayHoldIt) {
  for (std::uint64_t value = 0; value < 300'000; value += 37) {
    Histogram histogram(64);
    histogram.Record(value, 1);
    const Histogram::Snapshot snapshot = histogram.Look();
    std::size_t bucket = 0;
    while (value > snapshot.bounds[bucket]) bucket += 1;
    ASSERT_EQ(snapshot.counts[bucket], 1u) << value;
  }
}

}  // namespace
}  // namespace bspnow::coordinator
