// What a log cannot do now, for want of room or descriptors, it does when it can.
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <utility>

#include <gtest/gtest.h>
#include "base/testing/no_descriptors.h"
#include "coordinator/output/job_log.h"
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobLogWaitsTest : public JobLogTest {};

/// Until it waits for the disk, or has not had to.
void AwaitWait(const JobLogs& logs, std::future<absl::Status>& outcome) {
  while (logs.waits_for(kJob).empty() &&
         outcome.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
  }
}

TEST_F(JobLogWaitsTest, FileThatMayNotGrowIsWaitedFor) {
  signal(SIGXFSZ, SIG_IGN);
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  std::promise<absl::Status> done;
  std::future<absl::Status> written = done.get_future();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = std::filesystem::file_size(state_.log(kJob)) + 1,
                     .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  logs.Append(kJob, Stdout(0, 4, "two\n"), [&](absl::Status s) { done.set_value(std::move(s)); });
  AwaitWait(logs, written);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(written.get().ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\ntwo\n(more)");
}

TEST_F(JobLogWaitsTest, EarlierLogThatCannotBeOpenedYetIsNotTakenForNone) {
  {
    JobLogs logs(state_, kNoLimit, AtOnce);
    logs.Begin(kJob);
    ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  }
  JobLogs logs(state_, kNoLimit, AtOnce);
  std::promise<absl::Status> done;
  std::future<absl::Status> written = done.get_future();
  {
    const NoDescriptors none;
    logs.Begin(kJob);
    logs.Append(kJob, Stdout(0, 4, "two\n"), [&](absl::Status s) { done.set_value(std::move(s)); });
    AwaitWait(logs, written);
  }
  EXPECT_TRUE(written.get().ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\ntwo\n(more)");
}

// The loop asks for it, and is not to wait for a disk.
TEST_F(JobLogWaitsTest, LogOfAJobThatHasEndedIsOpenedByItsReader) {
  {
    JobLogs logs(state_, kNoLimit, AtOnce);
    logs.Begin(kJob);
    ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  }
  JobLogs logs(state_, kNoLimit, AtOnce);
  std::optional<LogReader> reader;
  {
    const NoDescriptors none;
    reader.emplace(logs.Read(kJob));
  }
  EXPECT_EQ(ReadAll(*reader), "0:one\n(end)");
}

// Eight of these would keep all threads from other jobs.
TEST_F(JobLogWaitsTest, LogThatIsNoFileIsNotWaitedFor) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  std::filesystem::create_directory(state_.log(kJob));
  EXPECT_FALSE(Append(logs, Stdout(0, 0, "one\n")).ok());
  EXPECT_EQ(logs.waits_for(kJob), "");
}

TEST_F(JobLogWaitsTest, SyncWaitsForDescriptors) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  std::promise<absl::Status> done;
  std::future<absl::Status> synced = done.get_future();
  {
    const NoDescriptors none;
    logs.Sync(kJob, {}, [&](absl::Status status) { done.set_value(std::move(status)); });
    AwaitWait(logs, synced);
  }
  EXPECT_TRUE(synced.get().ok());
  EXPECT_TRUE(Sync(logs).ok());
}

}  // namespace
}  // namespace bspnow::coordinator
