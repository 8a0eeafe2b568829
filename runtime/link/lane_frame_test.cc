#include "runtime/link/lane_frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/link/lane_barrier.h"
#include "runtime/link/lane_completion.h"
#include "runtime/link/testing/lane_node.h"

namespace bspnow {
namespace {

TEST(LaneFrameTest, WhatIsOwedIsThereAtTheOtherNodeOnceTheBarrierIsComplete) {
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  ASSERT_TRUE(ComposeLaneFrames(one.shape(), kBarrier, LaneRoute::kAsOwed));
  one.Receive(zero);
  zero.Receive(one);
  one.Complete();
  zero.Complete();
  EXPECT_EQ(one.Read(one.Received().puts), std::string(64, 'a') + std::string(16, 'b'));
  EXPECT_EQ(one.Read(one.Received().messages), std::string(48, 'm'));
  EXPECT_EQ(one.Received().bytes_to, 80u);
  EXPECT_EQ(one.Received().message_count, 1u);
  EXPECT_EQ(zero.Received().puts, 0u);
  for (const Node* node : {&zero, &one}) {
    const NodeBarrier& barrier = node->segment().header().barrier;
    EXPECT_EQ(barrier.released.value, kBarrier + 1);
    EXPECT_EQ(barrier.phases[kBarrier & 1].with_data, 1u) << "all learn that there is data";
  }
}

TEST(LaneFrameTest, EntriesGoWhenTheDirectoryIsUsedAgain) {
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  ASSERT_TRUE(ComposeLaneFrames(one.shape(), kBarrier, LaneRoute::kAsOwed));
  one.Receive(zero);
  one.Complete();
  ASSERT_NE(one.Received().puts, 0u);
  RemoveLaneEntries(one.segment(), kParity);
  EXPECT_EQ(one.Received().puts, 0u);
  EXPECT_EQ(one.Received().message_count, 0u);
}

TEST(LaneFrameTest, NobodyGoesAheadOfWhoEndsTheSuperstepByABarrier) {
  constexpr std::uint32_t kZero = 1;
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  one.Receive(zero);
  one.segment().cell(Pid{1}).expected = 1;
  EXPECT_FALSE(HasExpected(one.shape(), kBarrier, kZero));
}

TEST(LaneFrameTest, MessagesAreCountedAndReadBeforeTheBarrierIsOver) {
  constexpr std::uint32_t kNobody = 0;
  constexpr std::uint32_t kZero = 1;
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  zero.segment().header().barrier.phases[kBarrier & 1].by_count = 1;
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kDirect));
  one.Receive(zero);
  std::uint64_t& expected = one.segment().cell(Pid{1}).expected;
  EXPECT_TRUE(HasExpected(one.shape(), kBarrier, kNobody));
  expected = 1;
  EXPECT_FALSE(HasExpected(one.shape(), kBarrier, kNobody)) << "what lies there may be older";
  EXPECT_TRUE(HasExpected(one.shape(), kBarrier, kZero));
  expected = 2;
  EXPECT_FALSE(HasExpected(one.shape(), kBarrier, kZero));
  one.segment().entry(Pid{1}, Pid{1}, kParity).message_count = 1;
  EXPECT_TRUE(HasExpected(one.shape(), kBarrier, kZero)) << "with one to itself";
  LaneMessages found[2];
  FindLaneMessages(one.shape(), kBarrier, kZero, Pid{1}, found);
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(one.Read(found[0].first_chunk), std::string(48, 'm'));
  EXPECT_EQ(found[1].count, 0u);
  EXPECT_EQ(one.Received().messages, 0u) << "directories are written when it is over";
}

/// `one` asks `zero` for `bytes` bytes, and the barrier is complete on both.
void Ask(Node& zero, Node& one, std::uint64_t bytes) {
  one.AskFor(bytes);
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  ASSERT_TRUE(ComposeLaneFrames(one.shape(), kBarrier, LaneRoute::kAsOwed));
  one.Receive(zero);
  zero.Receive(one);
  one.Complete();
  zero.Complete();
}

TEST(LaneFrameTest, GetsComeWithTheFrameAndAnswersInAFrameOfTheirOwn) {
  Node zero(0);
  Node one(1);
  Ask(zero, one, 40);
  EXPECT_EQ(zero.Read(zero.Received().gets), std::string(24, 'g'));
  EXPECT_EQ(zero.Received().bytes_from, 40u);
  for (const Node* node : {&zero, &one})
    EXPECT_EQ(node->segment().header().barrier.phases[kBarrier & 1].with_gets, 1u);
  const LaneBarrier lanes(one.segment().lanes().state, 1, 2);
  EXPECT_TRUE(lanes.LacksAnswers(0, kBarrier));
  zero.Answer(std::string(40, 'x'));
  ComposeLaneAnswers(zero.shape(), kBarrier);
  one.ReceiveAnswers(zero);
  EXPECT_EQ(one.Answers(40), std::string(40, 'x'));
  EXPECT_EQ(one.segment().cell(Pid{0}).answered.value, kBarrier) << "superstep + 1";
}

TEST(LaneFrameTest, NoFlippedBitOfAnswersGoesUnnoticed) {
  Node zero(0);
  Node one(1);
  Ask(zero, one, 40);
  zero.Answer(std::string(40, 'x'));
  ComposeLaneAnswers(zero.shape(), kBarrier);
  EXPECT_EQ(LookAt(one, zero.AnswersToOther()), LaneBytes::kWhole);
  ExpectNoFlippedBitIsWhole(one, zero.AnswersToOther());
}

TEST(LaneFrameTest, GetsWhoseAnswersFitIntoNoFrameGoByTheWorker) {
  Node one(1);
  one.AskFor(kLaneShortBytesMax - sizeof(LaneFrame) - sizeof(LaneAnswers));
  EXPECT_TRUE(ComposeLaneFrames(one.shape(), kBarrier, LaneRoute::kAsOwed));
  Node other(1);
  other.AskFor(kLaneShortBytesMax - sizeof(LaneFrame) - sizeof(LaneAnswers) + 1);
  EXPECT_FALSE(ComposeLaneFrames(other.shape(), kBarrier, LaneRoute::kAsOwed));
}

TEST(LaneFrameTest, ALargeSuperstepFitsIntoNoFrame) {
  Node zero(0);
  zero.Owe(kLaneFrameBytesMax);
  EXPECT_FALSE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
}

TEST(LaneFrameTest, OfABarrierThatMayBeLeftBeforeItIsOverFramesAreShort) {
  Node zero(0);
  const auto composes = [&zero](std::uint32_t bytes_max) {
    return ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kDirect, bytes_max);
  };
  zero.Owe(kLaneShortBytesMax / 2);
  EXPECT_TRUE(composes(kLaneShortBytesMax));
  zero.Owe(kLaneShortBytesMax);
  EXPECT_FALSE(composes(kLaneShortBytesMax));
  EXPECT_TRUE(composes(kLaneFrameBytesMax));
}

TEST(LaneFrameTest, WhatWentAnotherWayIsCountedAsFarAsAFrameCan) {
  Node zero(0);
  zero.Owe(64);
  zero.CountPut(0xffff'0000);
  EXPECT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  zero.CountPut(0xffff);
  EXPECT_FALSE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
}

TEST(LaneFrameTest, AFrameIsKnownWhenItIsWhole) {
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  const std::vector<std::byte> frame = zero.FrameToOther();
  EXPECT_EQ(LookAt(one, frame), LaneBytes::kWhole);
  for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
    EXPECT_EQ(LookAt(one, {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)}),
              LaneBytes::kMore)
        << bytes;
  EXPECT_EQ(LookAt(one, frame, 1), LaneBytes::kDamaged) << "it is another node's";
}

TEST(LaneFrameTest, NoFlippedBitGoesUnnoticed) {
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  ExpectNoFlippedBitIsWhole(one, zero.FrameToOther());
}

// Nobody can tell who sent a head on, nor from which frame of its host it was made.
TEST(LaneFrameTest, TheHeadOfAnyFrameIsThatOfWhoIsOwedNothing) {
  Node zero(0);
  Node one(1);
  zero.Owe(64);
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kAsOwed));
  const auto out = zero.segment().lanes().out;
  const LaneFrame head = HeadOfLaneFrame(out[1][kBarrier & 1]);
  EXPECT_EQ(head.direct, 0b10u);
  EXPECT_EQ(std::memcmp(&head, out[0][kBarrier & 1], sizeof head), 0);
  std::uint32_t bytes = 0;
  EXPECT_EQ(LookAtLaneBytes(one.shape(), 0, reinterpret_cast<const std::byte*>(&head), sizeof head,
                            bytes),
            LaneBytes::kWhole);
}

TEST(LaneFrameTest, OnlyAHeadWithoutEntriesCanBeOfAnotherHostThanItsLane) {
  Node zero(0);
  const Node two(2);
  LaneShape of_two = two.shape();
  of_two.hosts = 3;
  const auto origin = [&of_two](const LaneFrame& head) {
    return OriginOfLaneBytes(of_two, 1, reinterpret_cast<const std::byte*>(&head), sizeof head);
  };
  ASSERT_TRUE(ComposeLaneFrames(zero.shape(), kBarrier, LaneRoute::kDirect));
  LaneFrame head = HeadOfLaneFrame(zero.segment().lanes().out[1][kBarrier & 1]);
  EXPECT_EQ(head.direct, 0b11u);
  EXPECT_EQ(origin(head), 0u);
  head.entries = 1;
  EXPECT_EQ(origin(head), 1u);
  head.entries = 0;
  head.magic = kLaneAnswersMagic;
  EXPECT_EQ(origin(head), 1u);
  head.magic = kLaneMagic;
  for (const std::uint32_t host : {2u, 3u}) {
    head.host = host;
    EXPECT_EQ(origin(head), 1u) << "of itself, or of nobody";
  }
}

}  // namespace
}  // namespace bspnow
