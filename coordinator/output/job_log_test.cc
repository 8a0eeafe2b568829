#include "coordinator/output/job_log.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include "base/testing/synced_paths.h"
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

TEST_F(JobLogTest, FollowerSeesWhatComesAndThenTheEnd) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(more)");
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "one\n"}).ok());
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
  ASSERT_TRUE(Append(logs, {.pid = 1, .origin = LogOrigin::kStderr, .text = "two\n"}).ok());
  EXPECT_EQ(ReadAll(reader), "1:two\n(more)");
  AwaitEnd(logs, reader);
}

TEST_F(JobLogTest, ReaderRightAfterTheEndMissesNothing) {
  constexpr int kLines = 2000;
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  for (std::uint64_t i = 0; i < kLines; ++i)
    logs.Append(kJob, Stdout(0, i, "x"), [](absl::Status) {});
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
    JobLogs logs(state_, kNoLimit, AtOnce);
    logs.Begin(kJob);
    ASSERT_TRUE(Append(logs, {.pid = 3, .origin = LogOrigin::kStdout, .text = "x\n"}).ok());
    logs.End(kJob);
  }
  JobLogs logs(state_, kNoLimit, AtOnce);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "3:x\n(end)");
}

TEST_F(JobLogTest, JobThatPrintedNothingHasAnEmptyLog) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(end)");
}

TEST_F(JobLogTest, OutputThatIsNotThereAnyMoreIsNoEmptyLog) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  LogReader reader = logs.Read(kJob);
  reader.RequireFile();
  EXPECT_EQ(ReadAll(reader), "(error)");
}

TEST_F(JobLogTest, FileThatCannotBeOpenedIsNoEmptyLog) {
  std::filesystem::create_directories(state_.job(kJob));
  std::filesystem::create_symlink("log", state_.log(kJob));  // To itself.
  JobLogs logs(state_, kNoLimit, AtOnce);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(error)");
}

TEST_F(JobLogTest, JoinsNeighboursOfOneOriginOnly) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  for (const std::uint32_t pid : {0, 0, 1})
    ASSERT_TRUE(Append(logs, {.pid = pid, .origin = LogOrigin::kStdout, .text = "l\n"}).ok());
  EXPECT_EQ(ReadAll(reader), "0:l\nl\n1:l\n(more)");
}

TEST_F(JobLogTest, LimitHoldsForProcessesAndNotForTheService) {
  JobLogs logs(state_, 96, AtOnce);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "fits\n"}).ok());
  EXPECT_EQ(
      Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = std::string(96, 'x')}).code(),
      absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(
      Append(logs, {.pid = 0, .origin = LogOrigin::kLauncher, .text = std::string(96, 'r')}).ok());
  EXPECT_EQ(ReadAll(reader), "0:fits\n0:" + std::string(96, 'r') + "(more)");
}

TEST_F(JobLogTest, TornTailIsCutWhenTheJobGoesOn) {
  {
    JobLogs logs(state_, kNoLimit, AtOnce);
    logs.Begin(kJob);
    ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "whole\n"}).ok());
    ASSERT_TRUE(Append(logs, {.pid = 1, .origin = LogOrigin::kStdout, .text = "torn\n"}).ok());
  }
  std::filesystem::resize_file(state_.log(kJob), std::filesystem::file_size(state_.log(kJob)) - 1);
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, {.pid = 2, .origin = LogOrigin::kStdout, .text = "next\n"}).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:whole\n2:next\n(more)");
}

TEST_F(JobLogTest, DamagedRecordIsAnError) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = "right\n"}).ok());
  {
    std::fstream file(state_.log(kJob), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(sizeof(LogFileHeader) + sizeof(LogRecordHeader));
    file.put('w');
  }
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(error)");
}

TEST_F(JobLogTest, RecordsLargerThanTheReadAheadComeWhole) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  const std::string large(kLogTextBytesMax, 'a');
  ASSERT_TRUE(Append(logs, {.pid = 0, .origin = LogOrigin::kStdout, .text = large}).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:" + large + "(more)");
}

TEST_F(JobLogTest, FileOfAnotherVersionIsAnErrorThatSaysSo) {
  std::filesystem::create_directories(state_.job(kJob));
  std::ofstream(state_.log(kJob)) << "written long ago by another program";
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  const absl::Status put = AppendAt(logs, Stdout(0, 0, "x"));
  EXPECT_NE(std::string(put.message()).find("older version"), std::string::npos) << put;
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(more)");
  EXPECT_EQ(std::filesystem::file_size(state_.log(kJob)), 35u);  // It is left as it is.
}

TEST_F(JobLogTest, AFollowerThatHasSeenALongLogPassesOverItInShortSteps) {
  constexpr std::size_t kText = 1000;
  constexpr std::uint64_t kPassed = LogReader::kPassedOverBytesMax;
  constexpr std::uint64_t kSeen = 3 * kPassed;
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  std::uint64_t printed = 0;
  for (; printed < kSeen; printed += kText)
    logs.Append(kJob, Stdout(0, printed, std::string(kText, 'x')), [](absl::Status) {});
  ASSERT_TRUE(AppendAt(logs, Stdout(0, printed, "new\n")).ok());
  LogReader reader = logs.Read(kJob);
  reader.PassOver({{{0, LogOrigin::kStdout}, printed}});
  int steps = 0;
  auto next = reader.Read();
  for (; next.ok() && std::holds_alternative<LogReader::Again>(*next); next = reader.Read())
    ++steps;
  EXPECT_EQ(steps, 3);
  ASSERT_TRUE(next.ok() && std::holds_alternative<LogRecord>(*next));
  EXPECT_EQ(std::get<LogRecord>(*next).text, "new\n");
  EXPECT_EQ(ReadAll(reader), "(more)");
}

// ---- Output exactly once ------------------------------------------------------------------------

TEST_F(JobLogTest, BytesThatComeAgainAreDropped) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  EXPECT_TRUE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
  EXPECT_TRUE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
  EXPECT_TRUE(AppendAt(logs, Stdout(0, 2, "e\ntwo\n")).ok());
  EXPECT_TRUE(AppendAt(logs, Stdout(1, 0, "other\n")).ok());
  EXPECT_EQ(ReadAll(reader), "0:one\ntwo\n1:other\n(more)");
}

TEST_F(JobLogTest, BytesThatComeAgainAfterARestartAreDropped) {
  {
    JobLogs logs(state_, kNoLimit, AtOnce);
    logs.Begin(kJob);
    ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
    ASSERT_TRUE(AppendAt(logs, Launcher("hello\n")).ok());
  }
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  EXPECT_TRUE(AppendAt(logs, Stdout(0, 0, "one\ntwo\n")).ok());
  EXPECT_TRUE(AppendAt(logs, Launcher("hello\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\n0:hello\n0:two\n0:hello\n(more)");
}

TEST_F(JobLogTest, MissingBytesAreAnErrorAndNothingIsWritten) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  EXPECT_EQ(AppendAt(logs, Stdout(0, 1, "one\n")).code(), absl::StatusCode::kFailedPrecondition);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(more)");
}

TEST_F(JobLogTest, CutTakesOutWhatWasPrintedSinceAndKeepsTheServicesWords) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "kept ")).ok());
  ASSERT_TRUE(AppendAt(logs, Stdout(1, 0, "gone\n")).ok());
  ASSERT_TRUE(AppendAt(logs, Launcher("lost\n")).ok());
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 5, "and gone\n")).ok());
  const auto cut = Cut(logs, {{.pid = 0, .stdout_bytes = 8, .stderr_bytes = 0}});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->dropped_bytes, 5u + 6u);
  EXPECT_EQ(cut->missing_bytes, 0u);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 8, " again\n")).ok());
  ASSERT_TRUE(AppendAt(logs, Stdout(1, 0, "new\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:kept 0:lost\n0:and again\n1:new\n(more)");
}

TEST_F(JobLogTest, WhatAProcessThatHadLeftPrintedStaysInACut) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "gone\n")).ok());
  ASSERT_TRUE(AppendAt(logs, Stdout(1, 0, "kept\n")).ok());
  const auto cut = Cut(logs, {{.pid = 0, .stdout_bytes = 0, .stderr_bytes = 0},
                              {.pid = 1, .stdout_bytes = 4, .stderr_bytes = 0, .left = true}});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->dropped_bytes, 5u);
  EXPECT_EQ(cut->missing_bytes, 0u);
  EXPECT_EQ(cut->kept.at({0, LogOrigin::kStdout}), 0u);
  EXPECT_EQ(cut->kept.at({1, LogOrigin::kStdout}), 5u) << "with what came after";
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "1:kept\n(more)");
}

TEST_F(JobLogTest, FollowerInMidLineIsNotGivenAgainWhatItHas) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  LogReader ahead = logs.Read(kJob);
  LogReader behind = logs.Read(kJob);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "abc")).ok());
  EXPECT_EQ(ReadAll(behind), "0:abc(more)");
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 3, "def")).ok());
  EXPECT_EQ(ReadAll(ahead), "0:abcdef(more)");
  ASSERT_TRUE(Cut(logs, {{.pid = 0, .stdout_bytes = 2, .stderr_bytes = 0}}).ok());
  EXPECT_EQ(ReadAll(ahead), "(more)");
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 2, "cdefgh\n")).ok());
  EXPECT_EQ(ReadAll(ahead), "0:gh\n(more)");
  EXPECT_EQ(ReadAll(behind), "0:defgh\n(more)");
  LogReader fresh = logs.Read(kJob);
  EXPECT_EQ(ReadAll(fresh), "0:abcdefgh\n(more)");
}

TEST_F(JobLogTest, WhoWaitsForMoreIsWokenAfterACut) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  LogReader reader = logs.Read(kJob);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "a long line that is cut\n")).ok());
  EXPECT_EQ(ReadAll(reader), "0:a long line that is cut\n(more)");
  std::promise<void> more;
  reader.WhenMore([&] { more.set_value(); });
  ASSERT_TRUE(Cut(logs, {}).ok());
  more.get_future().wait();
  EXPECT_EQ(ReadAll(reader), "(more)");
  ASSERT_TRUE(AppendAt(logs, Launcher("said\n")).ok());
  EXPECT_EQ(ReadAll(reader), "0:said\n(more)");
  AwaitEnd(logs, reader);
}

TEST_F(JobLogTest, CutThatFailsLeavesTheLogAsItIs) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
  std::filesystem::rename(state_.job(kJob), state_.job(kJob) + "-away");
  EXPECT_FALSE(Cut(logs, {}).ok());
  std::filesystem::rename(state_.job(kJob) + "-away", state_.job(kJob));
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "one\ntwo\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\ntwo\n(more)");
}

TEST_F(JobLogTest, CutToWhatTheLogHasLostChangesNothingAndSaysHowMuchIsMissing) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
  const auto lost = Cut(logs, {{.pid = 0, .stdout_bytes = 10, .stderr_bytes = 0},
                               {.pid = 1, .stdout_bytes = 0, .stderr_bytes = 2, .left = true}});
  ASSERT_TRUE(lost.ok());
  EXPECT_EQ(lost->missing_bytes, 6u + 2u);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 4, "two\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\ntwo\n(more)");
}

TEST_F(JobLogTest, FileThatIsNoLogHasNothingAndIsSetAsideWhenTheJobStartsOver) {
  std::filesystem::create_directories(state_.job(kJob));
  std::ofstream(state_.log(kJob)) << "this was never a log";
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  EXPECT_FALSE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
  const LogPosition printed{.pid = 0, .stdout_bytes = 4, .stderr_bytes = 0};
  EXPECT_TRUE(absl::IsFailedPrecondition(Sync(logs, {printed})));  // The job is to go back.
  EXPECT_EQ(Cut(logs, {printed})->missing_bytes, 4u);
  EXPECT_FALSE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
  ASSERT_TRUE(Cut(logs, {}).ok());
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "one\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
  EXPECT_TRUE(std::filesystem::exists(state_.log(kJob) + ".damaged"));
}

TEST_F(JobLogTest, CutLogIsReadAfterARestart) {
  {
    JobLogs logs(state_, kNoLimit, AtOnce);
    logs.Begin(kJob);
    ASSERT_TRUE(AppendAt(logs, Stdout(0, 0, "one\ntwo\n")).ok());
    ASSERT_TRUE(Cut(logs, {{.pid = 0, .stdout_bytes = 4, .stderr_bytes = 0}}).ok());
  }
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(AppendAt(logs, Stdout(0, 4, "2\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\n2\n(more)");
}

TEST_F(JobLogTest, SyncReportsOutputThatACrashHasLost) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, Stdout(1, 0, "one\n")).ok());
  EXPECT_TRUE(Sync(logs, {{.pid = 1, .stdout_bytes = 4, .stderr_bytes = 0}}).ok());
  const absl::Status lost = Sync(logs, {{.pid = 1, .stdout_bytes = 5, .stderr_bytes = 0}});
  EXPECT_TRUE(absl::IsFailedPrecondition(lost)) << lost;
}

TEST_F(JobLogTest, LogIsSyncedWithTheDirectoriesThatLeadToIt) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  SyncedPaths().clear();
  ASSERT_TRUE(Sync(logs).ok());
  for (const std::string& path : {state_.log(kJob), state_.job(kJob), state_.path() + "/jobs"})
    EXPECT_TRUE(SyncedPaths().contains(path)) << path;
}

TEST_F(JobLogTest, ReaderThatLeavesAQuietLogLeavesNothingBehind) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  auto follower = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = follower;
  {
    LogReader reader = logs.Read(kJob);
    EXPECT_EQ(ReadAll(reader), "(more)");
    reader.WhenMore([follower = std::move(follower)] { ++*follower; });
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
  EXPECT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());  // Nobody is called.
}

}  // namespace
}  // namespace bspnow::coordinator
