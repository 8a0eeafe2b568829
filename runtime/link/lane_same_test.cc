#include "runtime/link/lane_same.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "runtime/link/testing/lane_node.h"

namespace bspnow {
namespace {

constexpr std::uint32_t kSender = 1;
const std::vector<std::uint32_t> kNodes = {0, 1, 1, 2, 2, 2};  // Of each process.

/// Of three nodes, with one, two and three processes: frames of the second one.
class LaneSameTest : public testing::Test {
 protected:
  static LaneShape ShapeOf(const Segment& segment, std::uint32_t self) {
    return {.segment = &segment, .self = self, .hosts = 3, .p = 6};
  }

  /// Process `from` puts these records to `to`.
  void Put(std::uint32_t from, std::uint32_t to, const std::string& records) {
    DirectoryEntry& entry = sender_.entry(Pid{from}, Pid{to}, kParity);
    entry.puts = MakeChunk(sender_, Pid{from}, use_[from], records);
    entry.bytes_to = records.size();
    sender_.header().barrier.phases[kBarrier & 1].with_data = 1;
  }

  void PutToAll(std::uint32_t from, const std::string& records) {
    for (std::uint32_t to = 0; to < kNodes.size(); ++to)
      if (kNodes[to] != kSender) Put(from, to, records);
  }

  /// Process 1 owes each process of other nodes what `fill` writes down.
  template <typename Fill>
  void OweToAll(const Fill& fill) {
    for (const std::uint32_t to : {0u, 3u, 4u, 5u}) fill(sender_.entry(Pid{1}, Pid{to}, kParity));
    sender_.header().barrier.phases[kBarrier & 1].with_data = 1;
  }

  std::uint32_t DirectOf(LaneRoute route = LaneRoute::kAsOwed) {
    EXPECT_TRUE(ComposeLaneFrames(ShapeOf(sender_, kSender), kBarrier, route));
    return reinterpret_cast<const LaneFrame*>(FrameTo(0).data())->direct;
  }

  std::vector<std::byte> FrameTo(std::uint32_t host) const {
    const std::byte* const frame = sender_.lanes().out[host][kBarrier & 1];
    return {frame, frame + reinterpret_cast<const LaneFrame*>(frame)->bytes};
  }

  Segment sender_ = SegmentOfNode(kSender, kNodes);
  HeapUse use_[6];
};

TEST_F(LaneSameTest, WhatAnotherSendsOnIsWhatTheHostItselfWouldHaveSent) {
  PutToAll(1, std::string(24, 'x'));
  PutToAll(2, std::string(64, 'y'));
  ASSERT_EQ(DirectOf(), kSameToAll);
  const Segment zero = SegmentOfNode(0, kNodes);
  const Segment two = SegmentOfNode(2, kNodes);
  for (const auto& [segment, self, by] : {std::tuple{&zero, 0u, 2u}, std::tuple{&two, 2u, 0u}}) {
    const LaneShape shape = ShapeOf(*segment, self);
    std::vector<std::byte> frame = FrameTo(by);
    EXPECT_EQ(OriginOfLaneBytes(shape, by, frame.data(), frame.size()), kSender);
    AddressToProcessesHere(shape, frame.data(), frame.size());
    EXPECT_TRUE(CheckLaneFrame(shape, frame.data()));
    EXPECT_TRUE(frame == FrameTo(self)) << self;
  }
}

TEST_F(LaneSameTest, RegistrationsAreTheSameForAll) {
  sender_.cell(Pid{1}).votes[kParity] = {
      .superstep = kBarrier - 1, .digest = 1, .pushes = 1, .pops = 0, .tag_bytes = 4, .site = 0};
  sender_.pushes(Pid{1}, kParity)[0] = 3;
  sender_.header().barrier.phases[kBarrier & 1].with_votes = 1;
  EXPECT_EQ(DirectOf(), kSameToAll);
  EXPECT_TRUE(FrameTo(0) == FrameTo(2));
}

TEST_F(LaneSameTest, NothingIsAHeadAndGoesAsThat) { EXPECT_EQ(DirectOf(), 0u); }

TEST_F(LaneSameTest, WhereHeadsGoStraightSoDoesThis) {
  PutToAll(1, std::string(24, 'x'));
  EXPECT_EQ(DirectOf(LaneRoute::kDirect), 0b111u);
}

TEST_F(LaneSameTest, OneByteThatDiffersGoesToEach) {
  const std::string records(24, 'x');
  PutToAll(1, records);
  for (const std::uint32_t to : {4u, 0u}) {  // One of a node's, or all of it.
    Put(1, to, records.substr(1) + "y");
    EXPECT_EQ(DirectOf(), 0b101u) << to;
    Put(1, to, records);
    EXPECT_EQ(DirectOf(), kSameToAll) << to;
  }
}

TEST_F(LaneSameTest, WhoLeavesOneProcessOutSendsToEach) {
  PutToAll(1, std::string(24, 'x'));
  sender_.entry(Pid{1}, Pid{5}, kParity) = DirectoryEntry{};
  EXPECT_EQ(DirectOf(), 0b101u);
  sender_.entry(Pid{1}, Pid{0}, kParity) = DirectoryEntry{};
  EXPECT_EQ(DirectOf(), 0b100u);
}

TEST_F(LaneSameTest, WhoAsksAsksEach) {
  OweToAll([this](DirectoryEntry& entry) {
    entry.gets = MakeChunk(sender_, Pid{1}, use_[1], std::string(24, 'g'));
    entry.bytes_from = 8;
  });
  EXPECT_EQ(DirectOf(), 0b101u);
}

// A program may write into a message, so each process of a node has its own.
TEST_F(LaneSameTest, MessagesToSeveralOfANodeGoToEach) {
  OweToAll([this](DirectoryEntry& entry) {
    entry.messages = MakeChunk(sender_, Pid{1}, use_[1], std::string(32, 'm'));
    entry.message_count = 1;
  });
  EXPECT_EQ(DirectOf(), 0b101u);
}

TEST_F(LaneSameTest, WhatIsLongGoesToEach) {
  PutToAll(1, std::string(kSameBytesMax - sizeof(LaneFrame) - sizeof(LaneEntry) - kChunkHeaderBytes,
                          'x'));
  EXPECT_EQ(DirectOf(), kSameToAll);
  Put(2, 0, std::string(16, 'y'));
  PutToAll(2, std::string(16, 'y'));
  EXPECT_EQ(DirectOf(), 0b101u);
}

TEST_F(LaneSameTest, NoDamageBecomesAFrame) {
  PutToAll(1, std::string(24, 'x'));
  PutToAll(2, std::string(40, 'y'));
  ASSERT_EQ(DirectOf(), kSameToAll);
  const Segment two = SegmentOfNode(2, kNodes);
  const LaneShape shape = ShapeOf(two, 2);
  const std::vector<std::byte> whole = FrameTo(0);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::vector<std::byte> frame = whole;
    frame[bit / 8] ^= std::byte{1} << bit % 8;
    const std::uint32_t origin = OriginOfLaneBytes(shape, 0, frame.data(), frame.size());
    if (origin != 0) AddressToProcessesHere(shape, frame.data(), frame.size());
    std::uint32_t bytes = 0;
    EXPECT_NE(LookAtLaneBytes(shape, origin, frame.data(), frame.size(), bytes), LaneBytes::kWhole)
        << bit;
  }
}

// With a checksum that fits, as another process of the job can make it.
TEST_F(LaneSameTest, LengthsBeyondTheFrameAreNotFollowed) {
  PutToAll(1, std::string(24, 'x'));
  ASSERT_EQ(DirectOf(), kSameToAll);
  const Segment two = SegmentOfNode(2, kNodes);
  std::vector<std::byte> frame = FrameTo(0);
  auto& head = *reinterpret_cast<LaneFrame*>(frame.data());
  auto& entry = *reinterpret_cast<LaneEntry*>(frame.data() + sizeof head);
  for (const std::uint32_t bytes : {std::uint32_t{4096}, ~std::uint32_t{0}}) {
    entry.puts_bytes = bytes;
    head.crc32c = CrcOfLaneFrame(head);
    AddressToProcessesHere(ShapeOf(two, 2), frame.data(), frame.size());
    EXPECT_FALSE(CheckLaneFrame(ShapeOf(two, 2), frame.data()));
  }
  head.entries = 1000;
  entry.puts_bytes = 0;
  head.crc32c = CrcOfLaneFrame(head);
  AddressToProcessesHere(ShapeOf(two, 2), frame.data(), frame.size());
  EXPECT_FALSE(CheckLaneFrame(ShapeOf(two, 2), frame.data()));
}

}  // namespace
}  // namespace bspnow
