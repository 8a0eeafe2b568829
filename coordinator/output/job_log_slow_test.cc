// Several logs, of which one is slow.
#include <chrono>
#include <filesystem>
#include <future>

#include <gtest/gtest.h>
#include "base/clock.h"
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

TEST_F(JobLogSlowTest, SinceWhenTheDiskDoesNotAnswerIsKnown) {
  JobLogs logs(state_, kNoLimit, AtOnce);
  logs.Begin(kJob);
  EXPECT_EQ(logs.waits_since_ns(kJob), 0u);
  const std::uint64_t before_ns = NowNs();
  std::promise<void> begun, go_on;
  logs.Append(kJob, Stdout(0, 0, "one\n"), [&](const absl::Status&) {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  std::promise<void> synced;
  logs.Sync(kJob, {}, [&](const absl::Status&) { synced.set_value(); });
  const std::uint64_t since_ns = logs.waits_since_ns(kJob);
  EXPECT_GE(since_ns, before_ns);
  EXPECT_LE(since_ns, NowNs());
  go_on.set_value();
  synced.get_future().wait();
  EXPECT_NE(logs.waits_since_ns(kJob), since_ns);
}

TEST_F(JobLogSlowTest, ANewJobDoesNotWaitForTheDisk) {
  constexpr int kSlow = 32;  // All threads are at work for as many.
  JobLogs logs(state_, kNoLimit, AtOnce);
  std::promise<void> go_on;
  const std::shared_future<void> goes_on = go_on.get_future().share();
  for (std::uint64_t i = 0; i < kSlow; ++i)
    logs.Append(JobId{100 + i}, Stdout(0, 0, ""), [=](const absl::Status&) { goes_on.wait(); });
  logs.BeginNew(kJob);
  LogReader reader = logs.Read(kJob);
  EXPECT_EQ(ReadAll(reader), "(more)");
  EXPECT_FALSE(std::filesystem::exists(state_.job(kJob)));
  go_on.set_value();
  EXPECT_TRUE(Sync(logs).ok());
  EXPECT_TRUE(std::filesystem::exists(state_.job(kJob)));
  EXPECT_TRUE(Append(logs, Stdout(0, 0, "one\n")).ok());
  EXPECT_EQ(ReadAll(reader), "0:one\n(more)");
}

}  // namespace
}  // namespace bspnow::coordinator
