#include "runtime/transfers/bsmp_inbox.h"

#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <string>
#include <vector>

#include "runtime/link/testing/node_memory.h"
#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {
namespace {

struct Sent {
  std::string tag;
  std::string payload;
};

// Messages from three processes to pid 1, many enough for several chunks; often some of one length
// in turn, which are a run if they are short.
class BsmpInboxTest : public testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::uint32_t kProcesses = 3;

  void Send() {
    std::mt19937 random(7);
    for (std::uint32_t from = 0; from < kProcesses; ++from) {
      Outbox outbox;
      outbox.Attach(segment_, Pid{from}, kProcesses, 0);
      std::size_t bytes = 8;
      for (int k = 0; k < 300; ++k) {
        if (random() % 4 == 0) bytes = random() % (random() % 2 == 0 ? 20 : 100);
        const Sent sent{.tag = Text(random, GetParam()), .payload = Text(random, bytes)};
        outbox.AppendMessage(Pid{1}, sent.tag.data(), sent.tag.size(), sent.payload.data(),
                             sent.payload.size());
        sent_.push_back(sent);
      }
      outbox.Seal();
    }
    inbox_.Fill(segment_, Pid{1}, kProcesses, 0, GetParam());
  }

  static std::string Text(std::mt19937& random, std::size_t bytes) {
    std::string text(bytes, ' ');
    for (char& letter : text) letter = static_cast<char>(random());
    return text;
  }

  void ExpectAllThatWasSent() {
    EXPECT_EQ(inbox_.count(), sent_.size());
    for (const Sent& sent : sent_) {
      ASSERT_FALSE(inbox_.empty());
      const BsmpInbox::Message message = inbox_.Front();
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(message.tag), GetParam()), sent.tag);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(message.payload), message.payload_bytes),
                sent.payload);
      const std::size_t align = message.payload_bytes < kMessageAlign ? 8 : kMessageAlign;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.payload) % align, 0u);
      inbox_.Pop();
    }
    EXPECT_TRUE(inbox_.empty());
    EXPECT_EQ(inbox_.payload_bytes(), 0u);
  }

  Segment segment_ = SegmentOf(kProcesses);
  std::vector<Sent> sent_;
  BsmpInbox inbox_;
};

TEST_P(BsmpInboxTest, ACopyHasTheMessagesInTheirOrder) {
  Send();
  ASSERT_TRUE(inbox_.KeepCopy());
  inbox_.UseCopy();
  for (std::uint32_t i = 0; i < kProcesses; ++i) {  // The segment is gone.
    memset(segment_.arena(Pid{i}) + segment_.heap_offset(0), 0xff, 1 << 20);
  }
  ExpectAllThatWasSent();
}

TEST_P(BsmpInboxTest, WhoKeepsACopyReadsTheOriginal) {
  Send();
  ASSERT_TRUE(inbox_.KeepCopy());
  inbox_.DropCopy();
  ExpectAllThatWasSent();
}

TEST_P(BsmpInboxTest, AnEmptyQueueStaysEmpty) {
  inbox_.Fill(segment_, Pid{1}, kProcesses, 0, GetParam());
  ASSERT_TRUE(inbox_.KeepCopy());
  inbox_.UseCopy();
  EXPECT_TRUE(inbox_.empty());
}

INSTANTIATE_TEST_SUITE_P(TagBytes, BsmpInboxTest, testing::Values(0, 5, 8, 9, 40));

}  // namespace
}  // namespace bspnow::runtime
