#include "runtime/link/lane_pieces.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/link/lane_barrier.h"
#include "runtime/link/lane_frame.h"
#include "runtime/link/testing/lane_node.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kLong = 100'000;  // Divided by 16; its chunk has a header before it.

class LanePiecesTest : public testing::Test {
 protected:
  /// Node 0 owes node 1 so many bytes, and both have composed their frames.
  void Compose(std::uint64_t bytes, std::uint32_t bytes_max = kLaneFrameBytesMax) {
    zero_.Owe(bytes);
    ASSERT_TRUE(ComposeLaneFrames(zero_.shape(), kBarrier, LaneRoute::kAsOwed, bytes_max));
    ASSERT_TRUE(ComposeLaneFrames(one_.shape(), kBarrier, LaneRoute::kAsOwed));
  }

  LanePieces& pieces() { return zero_.segment().lanes().pieces[1][kBarrier & 1]; }
  std::byte* out() { return zero_.segment().lanes().out[1][kBarrier & 1]; }

  /// Of the parts of the frame, which lie in the segment.
  std::size_t BytesOfParts() {
    iovec parts[kLanePartsMax];
    const std::uint32_t count = PartsOfLaneFrame(zero_.segment(), 1, kBarrier & 1, parts);
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto* const part = static_cast<const std::byte*>(parts[i].iov_base);
      const std::uint64_t offset = zero_.segment().OffsetOf(part);
      EXPECT_EQ(zero_.segment().Find(offset, parts[i].iov_len), part);
      bytes += parts[i].iov_len;
    }
    return bytes;
  }

  Node zero_{0};
  Node one_{1};
};

TEST_F(LanePiecesTest, LongRecordsAreSentFromWhereTheyLie) {
  Compose(kLong);
  ASSERT_EQ(pieces().count, 1u) << "the chunk after that is short";
  EXPECT_EQ(pieces().of[0].bytes, kLong);
  const std::string nothing(kLong, '\0');
  std::memcpy(out() + pieces().of[0].at, nothing.data(), kLong);  // Not from there.
  EXPECT_EQ(LookAt(one_, zero_.FrameToOther()), LaneBytes::kWhole);
  one_.Receive(zero_);
  zero_.Receive(one_);
  one_.Complete();
  EXPECT_EQ(one_.Read(one_.Received().puts), std::string(kLong, 'a') + std::string(16, 'b'));
  EXPECT_EQ(one_.Read(one_.Received().messages), std::string(48, 'm'));
}

// Who is ahead of the next barrier uses the heap again, and another node may still lack the frame.
TEST_F(LanePiecesTest, NobodyGoesAheadOfTheBarrierAfterThat) {
  Compose(kLong);
  const LaneBarrier lanes(zero_.segment().lanes().state, 0, 2);
  EXPECT_FALSE(lanes.MayGoAhead(kBarrier + 1));
  EXPECT_TRUE(lanes.MayGoAhead(kBarrier + 2));
  EXPECT_TRUE(LaneBarrier(one_.segment().lanes().state, 1, 2).MayGoAhead(kBarrier + 1));
}

TEST_F(LanePiecesTest, ShortRecordsAreCopied) {
  Compose(kLanePieceBytesMin - kMessageAlign);
  EXPECT_EQ(pieces().count, 0u);
  EXPECT_EQ(BytesOfParts(), reinterpret_cast<const LaneFrame*>(out())->bytes);
}

TEST_F(LanePiecesTest, SoAreThoseOfABarrierThatProcessesMayLeaveBeforeItIsOver) {
  Compose(kLanePieceBytesMin, kLaneShortBytesMax);
  EXPECT_EQ(pieces().count, 0u);
}

TEST_F(LanePiecesTest, RecordsThatChangeAreFoundOut) {
  Compose(kLong);
  zero_.segment().Find(pieces().of[0].offset, 1)[0] = std::byte{'x'};
  EXPECT_EQ(LookAt(one_, zero_.FrameToOther()), LaneBytes::kDamaged);
}

TEST_F(LanePiecesTest, WhateverAProgramWritesThePartsLieInTheSegment) {
  Compose(kLong);
  const LanePieces sound = pieces();
  const std::size_t bytes = reinterpret_cast<const LaneFrame*>(out())->bytes;
  ASSERT_EQ(BytesOfParts(), bytes);
  const auto damage = [&](LanePiece piece) {
    pieces().of[0] = piece;
    EXPECT_EQ(BytesOfParts(), bytes);
    pieces() = sound;
  };
  const LanePiece piece = sound.of[0];
  damage({.at = 0xffffffff, .bytes = piece.bytes, .offset = piece.offset});
  damage({.at = piece.at, .bytes = 0xffffffff, .offset = piece.offset});
  damage({.at = piece.at, .bytes = piece.bytes, .offset = zero_.segment().bytes()});
  damage({.at = piece.at, .bytes = piece.bytes, .offset = ~std::uint64_t{0}});
  pieces().count = 0xffffffff;
  EXPECT_EQ(BytesOfParts(), bytes);
  pieces().of[1] = pieces().of[0];  // Once more the same place.
  pieces().count = 2;
  EXPECT_EQ(BytesOfParts(), bytes);
  reinterpret_cast<LaneFrame*>(out())->bytes = 0xffffffff;
  EXPECT_EQ(BytesOfParts(), kLaneFrameBytesMax);
}

}  // namespace
}  // namespace bspnow
