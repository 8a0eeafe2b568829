#include "worker/exchange/node_segment.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

#include "base/poll_wait.h"
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

TEST(NodeSegmentTest, AGroupWhosePathHasNoRoomIsNotLookedAt) {
  NodeSegment segment = MakeSegment(0);
  const MemoryGroup& group = segment.segment().header().memory_group;
  segment.SetMemoryGroup("", 1 << 20);
  segment.SetMemoryGroup(std::string(MemoryGroup::kPathBytes, 'g'), 1 << 20);
  EXPECT_EQ(group.limit_bytes, 0u);
  const std::string longest(MemoryGroup::kPathBytes - 1, 'g');
  segment.SetMemoryGroup(longest, 1 << 20);
  EXPECT_EQ(group.limit_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(group.path, longest);
}

// Each coordinator numbers on from far beyond the last one's checkpoints.
TEST(NodeSegmentTest, AHoldEndsByItsCheckpointOrALaterOneHoweverFarTheNumbersLie) {
  constexpr std::uint64_t kFar = 3'000'000'000;
  constexpr std::uint64_t kFarther = std::uint64_t{1} << 40 | 1;
  NodeSegment segment = MakeSegment(0);
  ImageOrder& order = segment.segment().header().image;
  EXPECT_TRUE(order.Holds(kFar)) << "nothing has been released";
  std::thread held([&order] {
    PollWait wait(2, 1);
    order.AwaitRelease(5, wait);
  });
  while (order.released.sleepers.load() == 0) std::this_thread::yield();
  segment.ReleaseHeld(4);
  EXPECT_TRUE(order.Holds(5));
  segment.ReleaseHeld(kFar);
  held.join();
  EXPECT_TRUE(order.Holds(kFarther));
  segment.ReleaseHeld(kFarther);
  segment.ReleaseHeld(6);
  EXPECT_FALSE(order.Holds(kFarther)) << "it was over before";
}

}  // namespace
}  // namespace bspnow::worker
