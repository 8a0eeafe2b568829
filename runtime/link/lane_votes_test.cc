// Registrations in frames of lanes.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/link/crc32c.h"
#include "runtime/link/lane_entries.h"
#include "runtime/link/testing/lane_node.h"

namespace bspnow {
namespace {

void Seal(std::vector<std::byte>& frame) {
  constexpr std::size_t kFrom = offsetof(LaneFrame, bytes);
  reinterpret_cast<LaneFrame*>(frame.data())->crc32c =
      Crc32c(0, frame.data() + kFrom, frame.size() - kFrom);
}

TEST(LaneVotesTest, RegistrationsAreKnownAtTheOtherNodeOnceTheBarrierIsComplete) {
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  zero.Register(5, {{.address = 0x1000, .bytes = 10}, {.address = 0x2000, .bytes = 20}});
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  ASSERT_TRUE(ComposeLaneFrames(one.shape(), kBarrier, LaneRoute::kAsOwed));
  EXPECT_EQ(LookAt(one, zero.FrameToOther()), LaneBytes::kWhole);
  one.Receive(zero);
  zero.Receive(one);
  one.Complete();
  zero.Complete();
  const Segment& there = one.segment();
  EXPECT_EQ(there.slots(Pid{0})[5].address, 0x1000u);
  EXPECT_EQ(there.slots(Pid{0})[6].bytes, 20u);
  EXPECT_EQ(there.pops(Pid{0}, kParity)[0], 77u);
  EXPECT_EQ(there.cell(Pid{0}).votes[kParity].superstep, kBarrier - 1);
  EXPECT_EQ(there.cell(Pid{0}).votes[kParity].pushes, 2u);
  EXPECT_EQ(one.Read(one.Received().messages), std::string(48, 'm'));
  for (const Node* node : {&zero, &one})
    EXPECT_EQ(node->segment().header().barrier.phases[kBarrier & 1].with_votes, 1u);
}

TEST(LaneVotesTest, AVoteForASlotThatCannotBeIsDamage) {
  Node zero(0);
  const Node one(1);
  zero.Register(kSlotsMax - 1, {{.address = 0x1000, .bytes = 10}});
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  EXPECT_EQ(LookAt(one, zero.FrameToOther()), LaneBytes::kWhole);
  ExpectNoFlippedBitIsWhole(one, zero.FrameToOther());
  constexpr std::size_t kVote = sizeof(LaneFrame) + offsetof(LaneVote, vote);
  const auto expect_damage = [&](std::size_t at, std::uint64_t more) {
    std::vector<std::byte> changed = zero.FrameToOther();
    reinterpret_cast<std::uint64_t&>(changed[at]) += more;
    Seal(changed);
    EXPECT_EQ(LookAt(one, changed), LaneBytes::kDamaged) << at << ", " << more;
  };
  expect_damage(sizeof(LaneFrame) + sizeof(LaneVote), 1);  // Its slot.
  for (const std::uint64_t more : {std::uint64_t{3}, kSlotsMax, ~std::uint64_t{1}}) {
    expect_damage(kVote + offsetof(RegistrationVote, pushes), more);
    expect_damage(kVote + offsetof(RegistrationVote, pops), more);
  }
}

TEST(LaneVotesTest, MoreRegistrationsThanFitIntoAFrameGoByTheWorker) {
  Node zero(0);
  zero.Register(0, std::vector<RegisteredArea>(kLaneFrameBytesMax / sizeof(LanePush)));
  EXPECT_FALSE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
}

}  // namespace
}  // namespace bspnow
