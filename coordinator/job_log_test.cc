#include "coordinator/job_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include "coordinator/scratch_directory.h"

namespace bspnow {
namespace {

constexpr JobId kJob{7};
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 40;

class JobLogTest : public testing::Test {
 protected:
  JobLogTest() : state_(*StateDirectory::Open(scratch_.path())) {}

  /// Appends, and waits until it is written.
  static absl::Status Append(JobLogs& logs, LogRecord record) {
    std::promise<absl::Status> written;
    logs.Append(kJob, std::move(record), [&](absl::Status s) { written.set_value(std::move(s)); });
    return written.get_future().get();
  }

  /// "0:one\n" and so on, until the reader has no more; then "(more)", "(end)" or "(error)".
  static std::string ReadAll(LogReader& reader) {
    std::string all;
    while (true) {
      const auto next = reader.Read();
      if (!next.ok()) return all + "(error)";
      if (std::holds_alternative<LogReader::NotYet>(*next)) return all + "(more)";
      if (std::holds_alternative<LogReader::End>(*next)) return all + "(end)";
      const auto& record = std::get<LogRecord>(*next);
      all += std::to_string(record.pid) + ":" + record.text;
    }
  }

  /// Waits until the job's end has reached the file.
  static void AwaitEnd(JobLogs& logs, LogReader& reader) {
    logs.End(kJob);
    while (true) {
      if (ReadAll(reader).ends_with("(end)")) return;
      std::promise<void> more;
      reader.WhenMore([&] { more.set_value(); });
      more.get_future().wait();
    }
  }

  const ScratchDirectory scratch_;
  const StateDirectory state_;
};

TEST_F(JobLogTest, FollowerSeesWhatComesAndThenTheEnd) {
  JobLogs logs(state_, kNoLimit);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(more)");
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "one\n"}).ok());
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
  ASSERT_TRUE(Append(logs, {.pid = 1, .origin = LogOrigin::kStderr, .text = "two\n"}).ok());
  EXPECT_EQ(ReadAll(reader), "1:two\n(more)");
  AwaitEnd(logs, reader);
}

TEST_F(JobLogTest, WhoReadsRightBehindTheEndMissesNothing) {
  constexpr int kLines = 2000;
  JobLogs logs(state_, kNoLimit);
  logs.Begin(kJob);
  for (int i = 0; i < kLines; ++i)
    logs.Append(kJob, {.pid = 0, .origin = LogOrigin::kStdout, .text = "x"}, [](absl::Status) {});
  logs.End(kJob);
  LogReader reader = logs.Read(kJob);
  std::string all = ReadAll(reader);
  while (all.ends_with("(more)")) {
    std::promise<void> more;
    reader.WhenMore([&] { more.set_value(); });
    more.get_future().wait();
    all += ReadAll(reader);
  }
  EXPECT_TRUE(all.ends_with("(end)"));
  EXPECT_EQ(std::count(all.begin(), all.end(), 'x'), kLines);
}

TEST_F(JobLogTest, EndedLogIsReadFromItsFile) {
  {
    JobLogs logs(state_, kNoLimit);
    logs.Begin(kJob);
    ASSERT_TRUE(Append(logs, {.pid = 3, .origin = LogOrigin::kStdout, .text = "x\n"}).ok());
    logs.End(kJob);
  }
  JobLogs logs(state_, kNoLimit);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "3:x\n(end)");
}

TEST_F(JobLogTest, JobThatPrintedNothingHasAnEmptyLog) {
  JobLogs logs(state_, kNoLimit);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(end)");
}

TEST_F(JobLogTest, JoinsNeighboursOfOneOriginOnly) {
  JobLogs logs(state_, kNoLimit);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  for (const std::uint32_t pid : {0, 0, 1})
    ASSERT_TRUE(Append(logs, {.pid = pid, .origin = LogOrigin::kStdout, .text = "l\n"}).ok());
  EXPECT_EQ(ReadAll(reader), "0:l\nl\n1:l\n(more)");
}

TEST_F(JobLogTest, LimitHoldsForProcessesAndNotForTheService) {
  JobLogs logs(state_, 64);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "fits\n"}).ok());
  EXPECT_EQ(
      Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = std::string(64, 'x')}).code(),
      absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(
      Append(logs, {.pid = 0, .origin = LogOrigin::kLauncher, .text = std::string(64, 'r')}).ok());
  EXPECT_EQ(ReadAll(reader), "0:fits\n0:" + std::string(64, 'r') + "(more)");
}

TEST_F(JobLogTest, TornTailIsCutWhenTheJobGoesOn) {
  {
    JobLogs logs(state_, kNoLimit);
    logs.Begin(kJob);
    ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "whole\n"}).ok());
    ASSERT_TRUE(Append(logs, {.pid = 1, .origin = LogOrigin::kStdout, .text = "torn\n"}).ok());
  }
  std::filesystem::resize_file(state_.log(kJob), std::filesystem::file_size(state_.log(kJob)) - 1);
  JobLogs logs(state_, kNoLimit);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, {.pid = 2, .origin = LogOrigin::kStdout, .text = "next\n"}).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:whole\n2:next\n(more)");
}

TEST_F(JobLogTest, DamagedRecordIsAnError) {
  JobLogs logs(state_, kNoLimit);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "right\n"}).ok());
  {
    std::fstream file(state_.log(kJob), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(sizeof(LogRecordHeader));
    file.put('w');
  }
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(error)");
}

TEST_F(JobLogTest, RecordsLargerThanTheReadAheadComeWhole) {
  JobLogs logs(state_, kNoLimit);
  logs.Begin(kJob);
  const std::string large(kLogTextBytesMax, 'a');
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = large}).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:" + large + "(more)");
}

}  // namespace
}  // namespace bspnow
