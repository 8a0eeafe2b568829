// Much data between nodes: chunks that are handed over early, unbuffered puts, long messages.
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "runtime/testing/calls.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// 10 MiB from pid 0 to pid 1, once in each of three supersteps.
void LargePuts(Process& process) {
  const std::size_t bytes = 10 * kMiB + 12345;
  process.Begin(2);
  std::vector<std::byte> area(bytes);
  std::vector<std::byte> mine(bytes);
  Register(process, area.data(), bytes);
  process.Sync(0);
  for (std::uint64_t s = 1; s < 4; ++s) {
    if (process.pid() == 0) {
      for (std::size_t i = 0; i < bytes; ++i) mine[i] = Pattern(0, s, i);
      Put(process,
          {.pid = 1, .area = area.data(), .offset = 0, .local = mine.data(), .bytes = bytes});
      std::fill(mine.begin(), mine.end(), std::byte{0});  // The put is buffered.
    }
    process.Sync(0);
    for (std::size_t i = 0; process.pid() == 1 && i < bytes; ++i) {
      Require(area[i] == Pattern(0, s, i), "a large put arrives");
    }
  }
  process.End(0);
}

TEST(LargeTransfersTest, ALargePutTravelsInChunksThatAreUsedAgain) {
  for (const Acknowledge acknowledge : {Acknowledge::kAtOnce, Acknowledge::kWhenTheRingIsFull}) {
    const JobOutcome outcome =
        RunOnNodes({.node_of = {0, 1}, .acknowledge = acknowledge}, LargePuts);
    ExpectAllEndWell(outcome);
    EXPECT_EQ(outcome.counts.handed, 3u * 40);  // Chunks of 256 KiB, but for the last.
    EXPECT_LE(outcome.counts.places.size(), 2 * (kHandedMax + 1));  // Of both parities.
  }
}

TEST(LargeTransfersTest, OnOneNodeNothingIsHandedOver) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 0, 1}}, [](Process& process) {
    process.Begin(3);
    std::vector<std::byte> area(8 * kMiB);
    std::vector<std::byte> mine(8 * kMiB);
    Register(process, area.data(), area.size());
    process.Sync(0);
    if (process.pid() != 2)
      Put(process, {.pid = process.pid() ^ 1,
                    .area = area.data(),
                    .offset = 0,
                    .local = mine.data(),
                    .bytes = 8 * kMiB});
    process.Sync(0);
    process.End(0);
  });
  ExpectAllEndWell(outcome);
  EXPECT_EQ(outcome.counts.handed, 0u);
}

// The order of issue decides which of several puts to one place wins, and in which order messages
// come, also when the first of them lie in small chunks and the last in full ones.
void ManySmallOnes(Process& process) {
  constexpr std::uint32_t kCount = 200'000;
  process.Begin(2);
  std::uint32_t area[3] = {0, 0, 0};
  Register(process, area, sizeof area);
  process.Sync(0);
  for (int s = 0; s < 3; ++s) {
    for (std::uint32_t i = 1; process.pid() == 0 && i <= kCount; ++i) {
      Put(process, {.pid = 1,
                    .area = area,
                    .offset = i % 2 * 8,
                    .local = &i,
                    .bytes = sizeof i});  // With a gap, so that none are merged.
      process.Send("bsp_send", 1, nullptr, &i, sizeof i);
    }
    process.Sync(0);
    if (process.pid() == 0) continue;
    Require(area[0] == kCount && area[2] == kCount - 1, "the last put wins");
    Require(process.inbox().count() == kCount, "all messages come");
    for (std::uint32_t i = 1; i <= kCount; ++i) {
      const BsmpInbox::Message message = process.inbox().Front();
      Require(memcmp(message.payload, &i, sizeof i) == 0, "messages come in order");
      process.inbox().Pop();
    }
  }
  process.End(0);
}

TEST(LargeTransfersTest, HandedChunksKeepTheOrder) {
  for (const Acknowledge acknowledge : {Acknowledge::kAtOnce, Acknowledge::kWhenTheRingIsFull}) {
    const JobOutcome outcome =
        RunOnNodes({.node_of = {0, 1}, .acknowledge = acknowledge}, ManySmallOnes);
    ExpectAllEndWell(outcome);
    EXPECT_GT(outcome.counts.handed, 3u * 2 * 8);
  }
}

TEST(LargeTransfersTest, MessagesLongerThanAChunkArrive) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 1}}, [](Process& process) {
    process.Begin(2);
    std::vector<std::byte> mine(kMiB);
    for (std::uint64_t k = 0; process.pid() == 0 && k < 20; ++k) {
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = Pattern(0, k, i);
      process.Send("bsp_send", 1, nullptr, mine.data(), mine.size() - k);
    }
    process.Sync(0);
    for (std::uint64_t k = 0; process.pid() == 1 && k < 20; ++k) {
      const BsmpInbox::Message message = process.inbox().Front();
      Require(message.payload_bytes == mine.size() - k, "a long message has its length");
      for (std::size_t i = 0; i < message.payload_bytes; i += 1000) {
        Require(message.payload[i] == Pattern(0, k, i), "a long message arrives");
      }
      process.inbox().Pop();
    }
    process.End(0);
  });
  ExpectAllEndWell(outcome);
  EXPECT_EQ(outcome.counts.handed, 19u);
  EXPECT_LE(outcome.counts.places.size(), kHandedMax + 1);
}

// A ring around four processes, by hpput and by hpget in turn.
void UnbufferedRing(Process& process) {
  const std::size_t bytes = kMiB + 17;
  process.Begin(4);
  const std::uint32_t next = (process.pid() + 1) % 4;
  const std::uint32_t before = (process.pid() + 3) % 4;
  std::vector<std::byte> out(bytes);
  std::vector<std::byte> in(bytes);
  Register(process, out.data(), bytes);
  Register(process, in.data(), bytes);
  process.Sync(0);
  for (std::uint64_t s = 1; s < 10; ++s) {
    for (std::size_t i = 0; i < bytes; ++i) out[i] = Pattern(process.pid(), s, i);
    process.Sync(0);  // From here to the next Sync nobody may alter what is transferred.
    if (s % 2 == 0) {
      HpPut(process,
            {.pid = next, .area = in.data(), .offset = 0, .local = out.data(), .bytes = bytes});
    } else {
      HpGet(process,
            {.pid = before, .area = out.data(), .offset = 0, .local = in.data(), .bytes = bytes});
    }
    process.Sync(0);
    for (std::size_t i = 0; i < bytes; ++i) {
      Require(in[i] == Pattern(before, s, i), "an unbuffered transfer arrives");
    }
  }
  process.End(0);
}

TEST(LargeTransfersTest, UnbufferedPutsToAnotherNodeAreWrittenByTheirTargets) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 0, 1, 1}}, UnbufferedRing);
  ExpectAllEndWell(outcome);
  EXPECT_EQ(outcome.counts.direct_puts, 2u * 4 * 5);  // Two pairs live apart; parts of 256 KiB.
  EXPECT_GT(outcome.counts.early_puts, 0u);
}

TEST(LargeTransfersTest, ManyUnbufferedPutsArrive) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 1}}, [](Process& process) {
    constexpr std::size_t kBytes = kFarDirectBytesMin;
    constexpr std::size_t kCount = 200;
    process.Begin(2);
    std::vector<std::byte> out(kBytes * kCount);
    std::vector<std::byte> in(kBytes * kCount);
    Register(process, in.data(), in.size());
    process.Sync(0);
    for (std::uint64_t s = 0; s < 4; ++s) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = Pattern(process.pid(), s, i);
      for (std::size_t k = 0; k < kCount; ++k) {
        HpPut(process, {.pid = process.pid() ^ 1,
                        .area = in.data(),
                        .offset = k * kBytes,
                        .local = out.data() + k * kBytes,
                        .bytes = kBytes});
      }
      process.Sync(0);
      for (std::size_t i = 0; i < in.size(); ++i) {
        Require(in[i] == Pattern(process.pid() ^ 1, s, i), "all unbuffered puts arrive");
      }
      process.Sync(0);  // Nothing is sent again.
    }
    process.End(0);
  });
  ExpectAllEndWell(outcome);
  EXPECT_EQ(outcome.counts.direct_puts, 2u * 4 * 200);
}

}  // namespace
}  // namespace bspnow::runtime
