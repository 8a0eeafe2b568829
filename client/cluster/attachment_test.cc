#include "client/cluster/attachment.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

proto::LogLine Line(std::uint32_t pid, proto::OutputStream stream, std::uint64_t offset,
                    const std::string& text) {
  proto::LogLine line;
  line.set_pid(pid);
  line.set_stream(stream);
  line.set_offset(offset);
  line.set_text(text);
  return line;
}

class AttachmentTest : public testing::Test {
 protected:
  Attachment attachment_{7, "key"};
};

TEST_F(AttachmentTest, BeginsWithJobAndKey) {
  const auto begin = attachment_.Begin();
  ASSERT_EQ(begin.size(), 1u);
  EXPECT_EQ(begin[0].job(), 7u);
  EXPECT_EQ(begin[0].submission_key(), "key");
  EXPECT_EQ(begin[0].seen_size(), 0);
}

TEST_F(AttachmentTest, SaysHowFarItHasEachStreamOfOutput) {
  attachment_.OnLine(Line(1, proto::STDOUT, 0, "one\n"));
  attachment_.OnLine(Line(1, proto::STDOUT, 4, "two\n"));
  attachment_.OnLine(Line(1, proto::STDERR, 0, "bad\n"));
  proto::LogLine of_launcher = Line(0, proto::STDERR, 0, "lost a worker\n");
  of_launcher.set_of_launcher(true);
  attachment_.OnLine(of_launcher);
  const auto begin = attachment_.Begin();
  ASSERT_EQ(begin[0].seen_size(), 3);
  EXPECT_TRUE(begin[0].seen(0).of_launcher());
  EXPECT_EQ(begin[0].seen(0).bytes(), 14u);
  EXPECT_EQ(begin[0].seen(1).stream(), proto::STDOUT);
  EXPECT_EQ(begin[0].seen(1).bytes(), 8u);
  EXPECT_EQ(begin[0].seen(2).pid(), 1u);
  EXPECT_EQ(begin[0].seen(2).bytes(), 4u);
}

TEST_F(AttachmentTest, RepeatsThePieceOfInputThatIsNotKnownToBeTaken) {
  EXPECT_EQ(attachment_.OnInput("first").input_offset(), 0u);
  EXPECT_TRUE(attachment_.OnInputTaken(5));
  EXPECT_EQ(attachment_.Begin().size(), 1u);
  EXPECT_EQ(attachment_.OnInput("second").input_offset(), 5u);
  const auto begin = attachment_.Begin();
  ASSERT_EQ(begin.size(), 2u);
  EXPECT_EQ(begin[1].input(), "second");
  EXPECT_EQ(begin[1].input_offset(), 5u);
}

TEST_F(AttachmentTest, WhatIsSaidAgainOfEarlierInputAsksForNoMore) {
  attachment_.OnInput("first");
  EXPECT_TRUE(attachment_.OnInputTaken(5));
  EXPECT_FALSE(attachment_.OnInputTaken(5));
  attachment_.OnInput("second");
  EXPECT_FALSE(attachment_.OnInputTaken(5));
  EXPECT_TRUE(attachment_.OnInputTaken(11));
}

TEST_F(AttachmentTest, RepeatsTheEndOfInput) {
  EXPECT_TRUE(attachment_.OnInput("").input_end());
  ASSERT_EQ(attachment_.Begin().size(), 2u);
  EXPECT_TRUE(attachment_.Begin()[1].input_end());
}

}  // namespace
}  // namespace bspnow::client
