#include "worker/host/job_output.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(reports_[1].output().offset(), kHostTextBytesMax);
  EXPECT_EQ(output_.Sent(kPid).output_bytes, 100'001u);
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
