#include "runtime/transfers/outbox.h"

#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <string>
#include <vector>

#include "runtime/link/chain.h"
#include "runtime/link/testing/node_memory.h"
#include "runtime/transfers/bsmp_inbox.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint32_t kProcesses = 3;
constexpr Pid kSelf{1};
constexpr Pid kOther{2};
constexpr std::uint64_t kSlots = 10;
constexpr std::uint64_t kAreaBytes = std::uint64_t{1} << 40;

/// One process's outbox in a segment that no other process shares.
class OutboxTest : public testing::Test {
 protected:
  OutboxTest() {
    for (std::uint64_t slot = 0; slot < kSlots; ++slot)
      segment_.slots(kOther)[slot] = {.address = 1, .bytes = kAreaBytes};
    outbox_.Attach(segment_, kSelf, kProcesses, 0);
  }

  DirectoryEntry& entry() { return segment_.entry(kSelf, kOther, outbox_.parity()); }

  void Put(std::uint32_t slot, std::uint64_t offset, const std::string& data) {
    outbox_.AppendPut({.pid = kOther, .slot = SlotId{slot}, .offset = offset, .bytes = data.size()},
                      data.data(), 0);
  }

  struct ReadPut {
    std::uint32_t slot;
    std::uint64_t offset;
    std::string data;
    bool operator==(const ReadPut&) const = default;
  };

  std::vector<ReadPut> Puts() {
    std::vector<ReadPut> puts;
    ChainReader chain(segment_.arena(kSelf), entry().puts);
    while (!chain.done()) {
      const auto& put = *reinterpret_cast<const PutRecord*>(chain.record());
      if ((put.slot & kRun) != 0) {
        const auto& run = *reinterpret_cast<const PutRun*>(chain.record());
        AddRun(run, puts);
        chain.Skip(sizeof run + run.count * (sizeof(RunOffset) + run.bytes), 8);
        continue;
      }
      const auto* data = reinterpret_cast<const char*>(chain.record() + sizeof put);
      puts.push_back({put.slot, put.offset, std::string(data, put.bytes)});
      chain.Skip(sizeof put + put.bytes, 8);
    }
    return puts;
  }

  void AddRun(const PutRun& run, std::vector<ReadPut>& puts) {
    runs_ += 1;
    const auto* at = reinterpret_cast<const char*>(&run + 1);
    for (std::uint64_t i = 0; i < run.count; ++i, at += sizeof(RunOffset) + run.bytes) {
      RunOffset offset;
      memcpy(&offset, at, sizeof offset);
      puts.push_back({run.slot & ~kRun, offset, std::string(at + sizeof offset, run.bytes)});
    }
  }

  void SendMany(std::size_t payload_bytes) {
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const std::string payload(payload_bytes, static_cast<char>(i));
      outbox_.AppendMessage(kOther, &i, sizeof i, payload.data(), payload_bytes);
    }
    outbox_.Seal();
  }

  void ExpectMany(std::size_t payload_bytes) {
    BsmpInbox inbox;
    inbox.Fill(segment_, kOther, kProcesses, outbox_.parity(), sizeof(std::uint32_t));
    ASSERT_EQ(inbox.count(), kMessages);
    for (std::uint32_t i = 0; i < kMessages; ++i, inbox.Pop()) {
      EXPECT_EQ(memcmp(inbox.Front().tag, &i, sizeof i), 0);
      const auto* payload = reinterpret_cast<const char*>(inbox.Front().payload);
      EXPECT_EQ(std::string(payload, inbox.Front().payload_bytes),
                std::string(payload_bytes, static_cast<char>(i)));
    }
  }

  /// Of all chunks of messages to kOther.
  std::uint64_t BytesOfMessages() {
    std::uint64_t bytes = 0;
    for (std::uint64_t at = entry().messages; at != 0;) {
      const auto& chunk = *reinterpret_cast<const Chunk*>(segment_.arena(kSelf) + at);
      EXPECT_EQ(chunk.used_bytes % kMessageAlign, 0u);
      bytes += chunk.used_bytes;
      at = chunk.next;
    }
    return bytes;
  }

  static constexpr std::uint32_t kMessages = 1000;

  Segment segment_ = SegmentOf(kProcesses);
  Outbox outbox_;
  std::size_t runs_ = 0;  ///< That Puts has read.
};

TEST_F(OutboxTest, IsEmptyAtFirst) {
  EXPECT_TRUE(outbox_.empty());
  EXPECT_EQ(entry().puts, 0u);
}

TEST_F(OutboxTest, MergesAPutThatContinuesTheLast) {
  Put(5, 0, "abc");
  Put(5, 3, "defgh");
  Put(5, 9, "x");   // A gap.
  Put(6, 10, "y");  // Another area.
  outbox_.Seal();
  const std::vector<ReadPut> expected{{5, 0, "abcdefgh"}, {5, 9, "x"}, {6, 10, "y"}};
  EXPECT_EQ(Puts(), expected);
  EXPECT_EQ(entry().bytes_to, 10u);
}

TEST_F(OutboxTest, PutsOfOneLengthToOneAreaAreARun) {
  std::vector<ReadPut> expected;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    expected.push_back({5, i * 7919 % 1000 * 8, std::string(8, static_cast<char>(i))});
    Put(5, expected.back().offset, expected.back().data);
  }
  outbox_.Seal();
  EXPECT_EQ(Puts(), expected);
  EXPECT_GT(runs_, 0u);
  EXPECT_LT(runs_, 10u);  // One a chunk.
}

TEST_F(OutboxTest, WhatFollowsTheLastPutOfARunIsMergedAgain) {
  Put(5, 0, "ab");
  Put(5, 10, "cd");
  Put(5, 20, "ef");
  Put(5, 22, "gh");
  Put(5, 24, "ij");
  Put(5, 40, "kl");
  Put(5, std::uint64_t{1} << 32, "mn");  // Beyond what a run can tell.
  Put(5, 60, "op");
  outbox_.Seal();
  const std::vector<ReadPut> expected{{5, 0, "ab"},  {5, 10, "cd"},
                                      {5, 20, "ef"}, {5, 22, "ghij"},
                                      {5, 40, "kl"}, {5, std::uint64_t{1} << 32, "mn"},
                                      {5, 60, "op"}};
  EXPECT_EQ(Puts(), expected);
}

TEST_F(OutboxTest, OnlyWhatIsLikeTheLastPutGoesOnWithoutAnyCheck) {
  Put(5, 0, "ab");
  const std::string data = "abcd";
  const auto goes_on = [&](Pid pid, std::uint32_t slot, std::uint64_t offset, std::size_t bytes) {
    return outbox_.PutMore({.pid = pid, .slot = SlotId{slot}, .offset = offset, .bytes = bytes},
                           data.data());
  };
  EXPECT_FALSE(goes_on(kOther, 5, 10, 2));  // One is no run.
  Put(5, 10, "cd");
  EXPECT_TRUE(goes_on(kOther, 5, 20, 2));
  EXPECT_FALSE(goes_on(kOther, 6, 30, 2));
  EXPECT_FALSE(goes_on(kOther, 5, 30, 3));
  EXPECT_FALSE(goes_on(kOther, 5, 22, 2));  // Where the last one ends.
  EXPECT_FALSE(goes_on(kSelf, 5, 30, 2));
  EXPECT_FALSE(goes_on(kOther, 5, std::uint64_t{1} << 32, 2));
  segment_.slots(kOther)[6].bytes = 100;
  Put(6, 0, "ab");
  Put(6, 10, "cd");
  EXPECT_TRUE(goes_on(kOther, 6, 98, 2));
  EXPECT_FALSE(goes_on(kOther, 6, 99, 2));
  outbox_.Seal();
  const std::vector<ReadPut> expected{{5, 0, "ab"}, {5, 10, "cd"}, {5, 20, "ab"},
                                      {6, 0, "ab"}, {6, 10, "cd"}, {6, 98, "ab"}};
  EXPECT_EQ(Puts(), expected);
  outbox_.NextSuperstep();
  EXPECT_FALSE(goes_on(kOther, 6, 30, 2));
  EXPECT_FALSE(outbox_.SendMore(kOther, "tag.", 4, "", 0));
  EXPECT_TRUE(outbox_.empty());
}

TEST_F(OutboxTest, CountsWhatRunsHoldWhenTheyEnd) {
  std::uint64_t got[2];
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Put(i % 100 == 0 ? 6 : 5, i * 7919 % 1000 * 8, "eight...");
    outbox_.AppendGet({.pid = kOther, .slot = SlotId{5}, .offset = i * 8, .bytes = i < 9 ? 4u : 8u},
                      &got[i % 2], 0);
    outbox_.AppendMessage(kOther, &i, 4, &i, i % 50 == 0 ? 3 : 8);
  }
  outbox_.Seal();
  EXPECT_EQ(entry().transfers, 2000u);
  EXPECT_EQ(entry().bytes_from, 1000u * 8 - 9 * 4);
  EXPECT_EQ(entry().message_count, 1000u);
  EXPECT_EQ(entry().message_bytes, 1000u * 8 - 20 * 5);
  EXPECT_EQ(entry().bytes_to, 1000 * 8 + entry().message_bytes + 1000 * 4);
}

TEST_F(OutboxTest, KeepsTheOrderAcrossChunks) {
  std::mt19937 random(11);
  std::vector<ReadPut> expected;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    // Even slots and odd ones in turn: no two can be merged.
    expected.push_back({i % 2, i * 10'000, std::string(random() % 3000, static_cast<char>(i))});
    if (expected.back().data.empty()) expected.back().data = "z";
    Put(expected.back().slot, expected.back().offset, expected.back().data);
  }
  outbox_.Seal();
  EXPECT_EQ(Puts(), expected);
}

TEST_F(OutboxTest, IsEmptyAgainTwoSuperstepsLater) {
  Put(5, 0, "even");
  outbox_.Seal();
  outbox_.NextSuperstep();
  EXPECT_TRUE(outbox_.empty());
  Put(5, 0, "odd");
  outbox_.Seal();
  // The outbox of the superstep before can still be read.
  EXPECT_NE(segment_.entry(kSelf, kOther, 0).puts, 0u);
  outbox_.NextSuperstep();
  EXPECT_TRUE(outbox_.empty());
  EXPECT_EQ(entry().puts, 0u);
  EXPECT_EQ(entry().bytes_to, 0u);
}

TEST_F(OutboxTest, GivesTheMemoryOfALargeSuperstepBack) {
  const std::string large(200 << 20, 'x');
  Put(5, 0, large);
  outbox_.Seal();
  for (int superstep = 0; superstep < 3; ++superstep) outbox_.NextSuperstep();
  // Removed pages read as zero.
  const std::byte* heap = segment_.arena(kSelf) + segment_.heap_offset(0);
  EXPECT_EQ(heap[large.size() - 1], std::byte{0});
  EXPECT_EQ(heap[large.size() / 2], std::byte{0});
}

TEST_F(OutboxTest, MessagesReachTheInboxWithTheirTags) {
  for (const std::size_t tag_bytes : {0, 1, 8, 9, 16, 100}) {
    SCOPED_TRACE(tag_bytes);
    std::vector<std::string> payloads;
    for (int i = 0; i < 300; ++i) {
      payloads.push_back(std::string(static_cast<std::size_t>(i * i % 1000), static_cast<char>(i)));
      const std::string tag(tag_bytes, static_cast<char>('a' + i % 26));
      outbox_.AppendMessage(kOther, tag.data(), tag_bytes, payloads.back().data(),
                            payloads.back().size());
    }
    outbox_.Seal();
    BsmpInbox inbox;
    inbox.Fill(segment_, kOther, kProcesses, outbox_.parity(), tag_bytes);
    EXPECT_EQ(inbox.count(), payloads.size());
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      const BsmpInbox::Message message = inbox.Front();
      const std::size_t align = message.payload_bytes < 16 ? 8 : 16;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.payload) % align, 0u);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.tag) % (tag_bytes <= 8 ? 8 : 16), 0u);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(message.payload), message.payload_bytes),
                payloads[i]);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(message.tag), tag_bytes),
                std::string(tag_bytes, static_cast<char>('a' + i % 26)));
      inbox.Pop();
    }
    EXPECT_TRUE(inbox.empty());
    EXPECT_EQ(inbox.payload_bytes(), 0u);
    outbox_.NextSuperstep();
  }
}

TEST_F(OutboxTest, ShortMessagesOfOneLengthAreARun) {
  for (const std::size_t payload_bytes : {0, 1, 8, 15}) {
    SCOPED_TRACE(payload_bytes);
    SendMany(payload_bytes);
    EXPECT_LT(BytesOfMessages(), kMessages * StrideInRun(payload_bytes) + 500);
    ExpectMany(payload_bytes);
    outbox_.NextSuperstep();
  }
}

TEST_F(OutboxTest, TwoMessagesOfOneLengthTakeNoMoreThanTwoRecords) {
  for (int i = 0; i < 2; ++i) outbox_.AppendMessage(kOther, &i, sizeof i, "eight...", 8);
  outbox_.Seal();
  EXPECT_EQ(BytesOfMessages(), kChunkHeaderBytes + 2 * (sizeof(MessageRecord) + 8));
}

TEST_F(OutboxTest, MessagesThatAreNamedByTheirRecordsStayApart) {
  outbox_.KeepMessagesApart();
  SendMany(8);
  EXPECT_GE(BytesOfMessages(), kMessages * (sizeof(MessageRecord) + 8));
  ExpectMany(8);
}

/// The other process is on another node: its worker takes chunks while this process goes on.
class HandedOutboxTest : public OutboxTest {
 protected:
  HandedOutboxTest() : bell_(segment_.header().bell, {}) {
    segment_.cell(kOther).node = segment_.header().node + 1;
    outbox_.HandOverBy(bell_);
    outbox_.Treat(Outbox::LargePuts::kKept);
  }

  Doorbell bell_;
};

// Else it would be kept, and sent late, in each superstep again.
TEST_F(HandedOutboxTest, WhatWasKeptInVainIsKnown) {
  Put(5, 0, std::string(1 << 20, 'x'));
  EXPECT_TRUE(outbox_.Kept(kOther));
  EXPECT_FALSE(outbox_.kept_in_vain());
  Put(5, 2 << 20, std::string(100 << 10, 'y'));
  EXPECT_FALSE(outbox_.KeptAny());
  EXPECT_TRUE(outbox_.kept_in_vain());
  outbox_.Seal();
  outbox_.NextSuperstep();
  EXPECT_FALSE(outbox_.kept_in_vain());
}

}  // namespace
}  // namespace bspnow::runtime
