// With the disk full when the second record is written, once: BSPNOW_FAILPOINTS in BUILD.bazel.
#include <gtest/gtest.h>
#include "coordinator/output/job_log.h"
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobLogFullTest : public JobLogTest {};

TEST_F(JobLogFullTest, WhatFindsNoRoomIsWrittenWhenThereIs) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  ASSERT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  EXPECT_TRUE(Append(logs, Stdout(0, 4, "two\n")).ok());
  EXPECT_EQ(logs.waits_for(kJob), "");
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "0:one\ntwo\n(more)");
}

}  // namespace
}  // namespace bspnow::coordinator
