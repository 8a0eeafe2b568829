// With the first sync failing: BSPNOW_FAILPOINTS in BUILD.bazel.
#include <gtest/gtest.h>
#include "coordinator/output/job_log.h"
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobLogSyncTest : public JobLogTest {};

TEST_F(JobLogSyncTest, SyncThatFailedIsNotTriedAgainBeforeTheFileIsAnother) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  EXPECT_TRUE(Sync(logs).ok());  // Nothing was printed: no file, no sync, no failure.
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  const absl::Status failed = Sync(logs);
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(Sync(logs), failed);
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "two\n")).ok());  // The job itself goes on.
  EXPECT_EQ(Sync(logs), failed);

  ASSERT_TRUE(Cut(logs, {{.pid = 0, .stdout_bytes = 8, .stderr_bytes = 0}}).ok());
  EXPECT_EQ(Sync(logs), failed);  // Nothing was cut: the same file.
  ASSERT_TRUE(Cut(logs, {{.pid = 0, .stdout_bytes = 4, .stderr_bytes = 0}}).ok());
  EXPECT_TRUE(Sync(logs).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
}

}  // namespace
}  // namespace bspnow::coordinator
