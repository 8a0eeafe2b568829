// With the second read failing: BSPNOW_FAILPOINTS in BUILD.bazel.
#include <gtest/gtest.h>
#include "coordinator/output/job_log.h"
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobLogReadTest : public JobLogTest {};

// Its second megabyte, when the coordinator comes back.
TEST_F(JobLogReadTest, WhatALogHasBeforeAnErrorCountsAsLostWithTheRest) {
  const std::string text(kLogTextBytesMax, 'x');
  {
    JobLogs logs(state_, kNoLimit, AtOnce);
    logs.Begin(kJob);
    ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
    ASSERT_TRUE(Append(logs, Stdout(0, 0, text)).ok());
  }
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  const LogPosition at{.pid = 0, .stdout_bytes = 4, .stderr_bytes = 0};
  EXPECT_TRUE(absl::IsFailedPrecondition(Sync(logs, {at})));
  const auto cut = Cut(logs, {at});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->missing_bytes, 4u);
  ASSERT_TRUE(Cut(logs, {}).ok());
  printed_.clear();
  EXPECT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
}

}  // namespace
}  // namespace bspnow::coordinator
