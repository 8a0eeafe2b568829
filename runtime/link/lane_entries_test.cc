#include "runtime/link/lane_entries.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "runtime/link/lane_completion.h"
#include "runtime/link/lane_frame.h"
#include "runtime/link/testing/node_memory.h"

namespace bspnow {
namespace {

constexpr std::uint32_t kBarrier = 7;
constexpr unsigned kParity = (kBarrier - 1) & 1;
constexpr std::uint32_t kProcesses = 6;
constexpr std::array<std::uint32_t, kProcesses> kHostOf = {0, 0, 1, 1, 1, 0};

/// One of two nodes, with several processes each.
class FullNode {
 public:
  explicit FullNode(std::uint32_t self) : self_(self), segment_(SegmentOfNode(self, kHostOf)) {
    segment_.header().barrier.phases[kBarrier & 1].with_data = 1;
  }

  void OwePuts(std::uint32_t from, std::uint32_t to, const std::vector<std::string>& chunks) {
    DirectoryEntry& entry = segment_.entry(Pid{from}, Pid{to}, kParity);
    entry.puts = Chain(from, chunks);
    for (const std::string& chunk : chunks) entry.bytes_to += chunk.size();
  }

  void OweMessage(std::uint32_t from, std::uint32_t to, const std::string& message) {
    DirectoryEntry& entry = segment_.entry(Pid{from}, Pid{to}, kParity);
    entry.messages = Chain(from, {message});
    entry.message_count = 1;
  }

  const LaneFrame& Compose() {
    EXPECT_TRUE(ComposeLaneFrames(shape(), kBarrier, LaneRoute::kAsOwed));
    return *reinterpret_cast<const LaneFrame*>(out());
  }

  void Receive(const FullNode& other) {
    std::memcpy(segment_.lanes().in[other.self_][kBarrier & 1], other.out(),
                reinterpret_cast<const LaneFrame*>(other.out())->bytes);
    EXPECT_TRUE(CheckLaneFrame(shape(), other.out()));
    CompleteLaneBarrier(shape(), kBarrier, FramesInSegment(shape(), kBarrier));
  }

  /// What a process here is put or sent by one elsewhere, or owes it.
  std::string Puts(std::uint32_t from, std::uint32_t to) const {
    return Text(from, segment_.entry(Pid{from}, Pid{to}, kParity).puts);
  }
  std::string Messages(std::uint32_t from, std::uint32_t to) const {
    return Text(from, segment_.entry(Pid{from}, Pid{to}, kParity).messages);
  }

  std::byte* out() const { return segment_.lanes().out[1 - self_][kBarrier & 1]; }
  LaneShape shape() const {
    return {.segment = &segment_, .self = self_, .hosts = 2, .p = kProcesses};
  }

 private:
  std::uint64_t Chain(std::uint32_t from, const std::vector<std::string>& chunks) {
    std::uint64_t next = 0;
    for (auto text = chunks.rbegin(); text != chunks.rend(); ++text) {
      const std::uint64_t bytes = kChunkHeaderBytes + text->size();
      const std::uint64_t at = segment_.TakeRoom(Pid{from}, kParity, bytes, use_[from]);
      auto* const chunk = reinterpret_cast<Chunk*>(segment_.arena(Pid{from}) + at);
      *chunk = {.next = next, .used_bytes = bytes};
      std::memcpy(chunk + 1, text->data(), text->size());
      next = at;
    }
    return next;
  }

  std::string Text(std::uint32_t from, std::uint64_t first) const {
    std::string text;
    for (std::uint64_t at = first; at != 0;) {
      const auto& chunk = *reinterpret_cast<const Chunk*>(segment_.arena(Pid{from}) + at);
      text.append(reinterpret_cast<const char*>(&chunk + 1), chunk.used_bytes - sizeof chunk);
      at = chunk.next;
    }
    return text;
  }

  std::uint32_t self_;
  Segment segment_;
  std::array<HeapUse, kProcesses> use_{};
};

TEST(LaneEntriesTest, WhatAProcessPutsToAllOfANodeGoesThereOnce) {
  FullNode zero(0);
  FullNode one(1);
  for (std::uint32_t to = 2; to <= 4; ++to)
    zero.OwePuts(1, to, {std::string(32, 'x'), "more of it......"});
  EXPECT_EQ(zero.Compose().entries, 1u);
  one.Receive(zero);
  for (std::uint32_t to = 2; to <= 4; ++to)
    EXPECT_EQ(one.Puts(1, to), std::string(32, 'x') + "more of it......") << to;
}

TEST(LaneEntriesTest, WhatDiffersInItsLastByteGoesByItself) {
  FullNode zero(0);
  FullNode one(1);
  zero.OwePuts(0, 2, {std::string(31, 'x') + 'y'});
  zero.OwePuts(0, 3, {std::string(31, 'x') + 'z'});
  zero.OwePuts(0, 4, {std::string(31, 'x') + 'z', std::string(16, 'z')});
  EXPECT_EQ(zero.Compose().entries, 3u);
  one.Receive(zero);
  EXPECT_EQ(one.Puts(0, 2).back(), 'y');
  EXPECT_EQ(one.Puts(0, 3).back(), 'z');
  EXPECT_EQ(one.Puts(0, 4).size(), 48u);
}

// A program may write into what it receives (bsp_hpmove).
TEST(LaneEntriesTest, EachProcessHasAMessageOfItsOwn) {
  FullNode zero(0);
  for (std::uint32_t to = 2; to <= 4; ++to) zero.OweMessage(0, to, std::string(32, 'm'));
  EXPECT_EQ(zero.Compose().entries, 3u);
}

TEST(LaneEntriesTest, WhateverIsOwedArrives) {
  std::minstd_rand random(7);
  for (int i = 0; i < 500; ++i) {
    FullNode zero(0);
    FullNode one(1);
    for (std::uint32_t from = 0; from < kProcesses; ++from) {
      for (std::uint32_t to = 0; to < kProcesses; ++to) {
        if (kHostOf[from] != 0 || kHostOf[to] != 1) continue;
        const auto text = [&random] {
          return std::string(16 * (1 + random() % 2), static_cast<char>('a' + random() % 2));
        };
        if (random() % 4 != 0) {
          zero.OwePuts(from, to,
                       random() % 3 == 0 ? std::vector{text(), text()} : std::vector{text()});
        }
        if (random() % 5 == 0) zero.OweMessage(from, to, text());
      }
    }
    zero.Compose();
    one.Receive(zero);
    for (std::uint32_t from = 0; from < kProcesses; ++from) {
      for (std::uint32_t to = 0; to < kProcesses; ++to) {
        if (kHostOf[from] != 0 || kHostOf[to] != 1) continue;
        ASSERT_EQ(one.Puts(from, to), zero.Puts(from, to)) << i << ": " << from << ", " << to;
        ASSERT_EQ(one.Messages(from, to), zero.Messages(from, to)) << i;
      }
    }
  }
}

TEST(LaneEntriesTest, AnEntryStandsForNoProcessThatIsNotThere) {
  FullNode zero(0);
  FullNode one(1);
  zero.OwePuts(0, 3, {std::string(32, 'x')});
  zero.Compose();
  const auto sound = [&](std::uint32_t more) {
    auto* const entry = reinterpret_cast<LaneEntry*>(zero.out() + sizeof(LaneFrame));
    entry->more = more;
    return ForEachLaneEntry(zero.out(), [](const LaneEntry& each, const std::byte*) {
      return each.destination_pid < kProcesses && kHostOf[each.destination_pid] == 1;
    });
  };
  EXPECT_TRUE(sound(0));
  EXPECT_TRUE(sound(1));
  EXPECT_FALSE(sound(2)) << "pid 5 lives elsewhere";
  EXPECT_FALSE(sound(~std::uint32_t{0}));
}

}  // namespace
}  // namespace bspnow
