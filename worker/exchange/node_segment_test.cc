#include "worker/exchange/node_segment.h"

#include <gtest/gtest.h>

#include "worker/exchange/testing/batch_fixture.h"

namespace bspnow::worker {
namespace {

TEST(NodeSegmentTest, AnOrderHasOneOutcomeAndWhatProcessesWriteHasNone) {
  NodeSegment segment = MakeSegment(0);
  EXPECT_EQ(segment.ordered_image(), 0u);
  EXPECT_FALSE(segment.TakeOutcome(0));
  for (const std::uint64_t checkpoint : {1u, 2u})
    segment.OrderImage({.checkpoint = checkpoint, .base = 0, .after = ImagePlan::After::kGoOn});
  segment.segment().header().image.checkpoint = 77;
  EXPECT_EQ(segment.ordered_image(), 2u);
  EXPECT_FALSE(segment.TakeOutcome(77));
  EXPECT_TRUE(segment.TakeOutcome(2));
  EXPECT_TRUE(segment.TakeOutcome(1));
  EXPECT_FALSE(segment.TakeOutcome(1));
}

}  // namespace
}  // namespace bspnow::worker
