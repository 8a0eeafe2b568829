// Several logs, of which one is slow.
#include <chrono>
#include <future>

#include <gtest/gtest.h>
#include "coordinator/output/job_log.h"
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobLogSlowTest : public JobLogTest {};

TEST_F(JobLogSlowTest, WhatTakesLongWithOneLogHoldsUpNoOther) {
  constexpr JobId kSlow{8};
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kSlow);
  logs.Begin(kJob);
  std::promise<void> begun, go_on, second;
  logs.Append(kSlow, Stdout(0, 0, "one\n"), [&](const absl::Status&) {
    begun.set_value();
    go_on.get_future().wait();
  });
  logs.Append(kSlow, Stdout(0, 4, "two\n"), [&](const absl::Status&) { second.set_value(); });
  begun.get_future().wait();
  EXPECT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  std::future<void> second_done = second.get_future();
  EXPECT_EQ(second_done.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  go_on.set_value();
  second_done.wait();
}

}  // namespace
}  // namespace bspnow::coordinator
