// A disk that changes what was written: a log goes as far as its records are sound.
#include <cstdint>
#include <filesystem>

#include <gtest/gtest.h>
#include "coordinator/output/job_log.h"
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobLogDamagedTest : public JobLogTest {
 protected:
  static constexpr std::size_t kRecordBytes = sizeof(LogRecordHeader) + 4;

  void AppendThreeLines(JobLogs& logs) {
    logs.Begin(kJob);
    for (const char* line : {"one\n", "two\n", "six\n"})
      ASSERT_TRUE(Append(logs, Stdout(0, 0, line)).ok());
  }

  static LogPosition Printed(std::uint64_t bytes) {
    return {.pid = 0, .stdout_bytes = bytes, .stderr_bytes = 0};
  }
};

TEST_F(JobLogDamagedTest, AfterARestartTheLogGoesAsFarAsItsRecordsAreSound) {
  {
    JobLogs logs(state_, kNoLimit, AtOnce);
    AppendThreeLines(logs);
  }
  DamageByte(sizeof(LogFileHeader) + 2 * kRecordBytes - 1);
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  EXPECT_EQ(Cut(logs, {Printed(12)})->missing_bytes, 8u);
  EXPECT_EQ(Cut(logs, {Printed(4)})->missing_bytes, 0u);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
}

// Nobody had noticed: the shorter file was to hold what the checkpoint had seen printed.
TEST_F(JobLogDamagedTest, CutFindsWhatHasRottedBeforeItsPositionMissing) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  AppendThreeLines(logs);
  DamageByte(sizeof(LogFileHeader) + 2 * kRecordBytes - 1);
  const auto rotten = Cut(logs, {Printed(8)});
  ASSERT_TRUE(rotten.ok()) << rotten.status();
  EXPECT_EQ(rotten->missing_bytes, 4u);
  EXPECT_EQ(Cut(logs, {Printed(4)})->missing_bytes, 0u);
  printed_[{0, LogOrigin::kStdout}] = 4;
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "again\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\nagain\n(more)");
}

TEST_F(JobLogDamagedTest, CutTakesOutWhatHasRottedAfterItsPosition) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  AppendThreeLines(logs);
  LogReader follower = logs.Read(kJob);
  EXPECT_EQ(ReadAll(follower), "0:one\ntwo\nsix\n(more)");
  DamageByte(sizeof(LogFileHeader) + 3 * kRecordBytes - 1);
  const auto cut = Cut(logs, {Printed(8)});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->missing_bytes, 0u);
  printed_[{0, LogOrigin::kStdout}] = 8;
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "six\n7\n")).ok());
  EXPECT_EQ(ReadAll(follower), "0:7\n(more)");
}

TEST_F(JobLogDamagedTest, LogWhoseBeginningHasRottedIsSetAsideByACutToNothing) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  AppendThreeLines(logs);
  DamageByte(0);
  const auto rotten = Cut(logs, {Printed(8)});
  ASSERT_TRUE(rotten.ok()) << rotten.status();
  EXPECT_EQ(rotten->missing_bytes, 8u);
  ASSERT_TRUE(Cut(logs, {}).ok());
  printed_.clear();
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
  EXPECT_TRUE(std::filesystem::exists(state_.log(kJob) + ".damaged"));
}

}  // namespace
}  // namespace bspnow::coordinator
