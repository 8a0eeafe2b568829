#include "worker/host/job_output.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace bspnow::worker {
namespace {

constexpr Pid kPid{3};

class JobOutputTest : public testing::Test {
 protected:
  std::string Reported() const {
    std::string text;
    for (const proto::WorkerEvent& event : reports_) text += event.output().text();
    return text;
  }

  static proto::ResumedProcess Resumed(std::uint64_t output_bytes, const std::string& line) {
    proto::ResumedProcess resumed;
    resumed.set_output_bytes(output_bytes);
    resumed.set_output_line(line);
    return resumed;
  }

  std::vector<proto::WorkerEvent> reports_;
  JobOutput output_{[this](proto::WorkerEvent event) { reports_.push_back(std::move(event)); }};
};

TEST_F(JobOutputTest, SaysWhereEachPieceBelongs) {
  output_.AddProcess(kPid);
  output_.OnBytes(kPid, Stream::kOutput, "one\ntw");
  output_.OnBytes(kPid, Stream::kError, "oops\n");
  output_.OnBytes(kPid, Stream::kOutput, "o\n");
  ASSERT_EQ(reports_.size(), 3u);
  EXPECT_EQ(reports_[0].output().offset(), 0u);
  EXPECT_EQ(reports_[1].output().offset(), 0u);
  EXPECT_EQ(reports_[2].output().offset(), 4u);
  EXPECT_EQ(reports_[2].output().text(), "two\n");
  EXPECT_EQ(output_.Sent(kPid).output_bytes, 8u);
  EXPECT_EQ(output_.Sent(kPid).error_bytes, 5u);
}

TEST_F(JobOutputTest, CountsPiecesOfLongText) {
  output_.AddProcess(kPid);
  output_.OnBytes(kPid, Stream::kOutput, std::string(100'000, 'x') + "\n");
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_TRUE(reports_[0].output().goes_on());
  EXPECT_FALSE(reports_[1].output().goes_on());
  EXPECT_EQ(reports_[1].output().offset(), kHostTextBytesMax);
  EXPECT_EQ(output_.Sent(kPid).output_bytes, 100'001u);
}

TEST_F(JobOutputTest, ALineOfAMebibyteIsOneTextAndALongerOneIsSeveral) {
  output_.AddProcess(kPid);
  for (const std::size_t bytes : {kOutputTextBytesMax, kOutputTextBytesMax + 1}) {
    std::string line(bytes, 'x');
    line.back() = '\n';
    for (std::size_t at = 0; at < bytes; at += 50'000)
      output_.OnBytes(kPid, Stream::kOutput, std::string_view(line).substr(at, 50'000));
  }
  EventJoiner joiner;
  std::vector<std::size_t> texts;
  for (const proto::WorkerEvent& event : reports_) {
    const auto whole = joiner.Add(event);
    ASSERT_TRUE(whole.ok()) << whole.status();
    if (*whole) texts.push_back((*whole)->output().text().size());
  }
  const std::vector<std::size_t> expected = {kOutputTextBytesMax, kOutputTextBytesMax, 1};
  EXPECT_EQ(texts, expected);
}

// What is taken of the credit is given back by text, as the coordinator acknowledges texts.
TEST_F(JobOutputTest, ALongLineTakesNoMoreCreditThanIsGivenBackForIt) {
  output_.AddProcess(kPid);
  for (int i = 0; i < 1000; ++i) {
    output_.OnBytes(kPid, Stream::kOutput, std::string(kOutputTextBytesMax - 1, 'x') + "\n");
    EXPECT_FALSE(output_.has_credit());
    output_.Grant(OutputCharge(kOutputTextBytesMax));
    ASSERT_TRUE(output_.has_credit());
    reports_.clear();
  }
}

// A line that is half printed at the checkpoint is printed once, whole.
TEST_F(JobOutputTest, CarriesAnUnfinishedLineOverACheckpoint) {
  output_.AddProcess(kPid);
  output_.OnBytes(kPid, Stream::kOutput, "first\nhalf");
  const std::vector<files::UnfinishedLine> lines = output_.Unfinished();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].text, "half");
  const OutputCounts sent = output_.Sent(kPid);
  EXPECT_EQ(sent.output_bytes, 6u);

  JobOutput later([this](proto::WorkerEvent event) { reports_.push_back(std::move(event)); });
  later.AddResumed(kPid, Resumed(sent.output_bytes, lines[0].text));
  later.Hear(kPid);
  later.OnBytes(kPid, Stream::kOutput, " and half\n");
  EXPECT_EQ(Reported(), "first\nhalf and half\n");
  EXPECT_EQ(reports_.back().output().offset(), 6u);
}

TEST_F(JobOutputTest, KeepsToItselfWhatTheRestorerSays) {
  output_.AddResumed(kPid, Resumed(10, "half"));
  output_.OnBytes(kPid, Stream::kError, "bsp-restore: no room at 0x1000\n");
  output_.OnEnd(kPid, Stream::kOutput);
  EXPECT_TRUE(reports_.empty());
  EXPECT_EQ(output_.complaint(kPid), "bsp-restore: no room at 0x1000\n");
}

TEST_F(JobOutputTest, DropsWhatWasPrintedBeforeTheAreasWereSaved) {
  proto::ResumedProcess resumed = Resumed(10, "");
  resumed.set_areas_image("c1.p3");
  output_.AddResumed(kPid, resumed);
  output_.OnBytes(kPid, Stream::kOutput, "hello\n");
  output_.Hear(kPid);
  output_.OnBytes(kPid, Stream::kOutput, "again\n");
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].output().text(), "again\n");
  EXPECT_EQ(reports_[0].output().offset(), 10u);
}

TEST_F(JobOutputTest, UsesUpItsCredit) {
  output_.AddProcess(kPid);
  EXPECT_TRUE(output_.has_credit());
  for (std::int64_t sent = 0; sent < kOutputCreditBytes; sent += 1000) {
    output_.OnBytes(kPid, Stream::kOutput, std::string(999, 'x') + "\n");
  }
  EXPECT_FALSE(output_.has_credit());
  output_.Grant(kOutputCreditBytes);
  EXPECT_TRUE(output_.has_credit());
}

}  // namespace
}  // namespace bspnow::worker
