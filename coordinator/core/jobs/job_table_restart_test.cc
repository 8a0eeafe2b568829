#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/jobs/job_table_restart_fixture.h"

namespace bspnow::coordinator {
namespace {

TEST_F(JobTableRestartTest, WhatWaitsAndWhatHasEndedStaysSo) {
  const JobId waits = Submit(Request(2));
  const JobId ends = Submit(Request(2));
  Do(table_.OnCancel(ends, "cancelled", at_));
  Restart();
  EXPECT_EQ(State(ends), proto::CANCELLED);
  EXPECT_EQ(State(waits), proto::WAITING);
  EXPECT_EQ(table_.OnSubmit(Request(2), "key1", at_).job, waits);
  EXPECT_EQ(table_.OnSubmit(Request(2), "new", at_).job, JobId{3});
  Up(kOne, 2);
  EXPECT_EQ(State(waits), proto::RUNNING);
}

TEST_F(JobTableRestartTest, NoIdIsGivenTwice) {
  Run(Request(1));
  const JobId newest = Submit(Request(9));
  Restart();
  EXPECT_EQ(Submit(Request(1)), JobId{Value(newest) + 1});
}

TEST_F(JobTableRestartTest, ARunningJobGoesOnWhenAllItsHostsAreBack) {
  const JobId job = Run(Request(3));
  Restart();
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_TRUE(table_.Awaits(kOne) && table_.Awaits(kTwo));
  EXPECT_EQ(table_.next_deadline_ns(), at_.now_ns + kReturnNs);
  EXPECT_EQ(Returns(kTwo, {Held(job, 1)}), std::vector<JobId>{job});
  EXPECT_TRUE(all_.returned.empty());
  EXPECT_EQ(Returns(kOne, {Held(job, 1)}), std::vector<JobId>{job});
  EXPECT_EQ(all_.returned, std::vector<JobId>{job});
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
  EXPECT_TRUE(all_.starts.empty() && all_.ends.empty());
  for (const std::uint32_t pid : {0, 1, 2}) Exits(job, pid, Exit(Reached::kEnded, 0));
  Cleared(job, kOne);
  Cleared(job, kTwo);
  EXPECT_EQ(State(job), proto::SUCCEEDED);
  EXPECT_EQ(Shown(job).restarts(), 0u);
}

TEST_F(JobTableRestartTest, WhatHasExitedMeanwhileIsTold) {
  const JobId job = Run(Request(3));
  Restart();
  HeldEpoch first = Held(job, 1);
  first.exited = {{Pid{0}, Exit(Reached::kEnded, 0)}, {Pid{1}, Exit(Reached::kEnded, 5)}};
  HeldEpoch second = Held(job, 1);
  second.exited = {{Pid{2}, Exit(Reached::kEnded, 0)}};
  EXPECT_EQ(Returns(kOne, {first}).size(), 1u);
  EXPECT_EQ(Returns(kTwo, {second}).size(), 1u);
  EXPECT_EQ(State(job), proto::ENDING);
  EXPECT_EQ(all_.ends.size(), 2u);
  Cleared(job, kOne);
  Cleared(job, kTwo);
  EXPECT_EQ(Shown(job).exit_status(), 5);
}

TEST_F(JobTableRestartTest, AKillAfterTheRestartIsRecoveredOnAllHosts) {
  const JobId job = Run(Request(3));
  Restart();
  Returns(kOne, {Held(job, 1)});
  Killed(job, 0, SIGKILL);
  EXPECT_EQ(State(job), proto::RECOVERING);
  Cleared(job, kOne);
  // Its processes on the other node may run, and have a lease, until they are cleared away.
  EXPECT_EQ(Returns(kTwo, {Held(job, 1)}).size(), 1u);
  EXPECT_EQ(all_.ends.back().worker, kTwo);
  EXPECT_FALSE(all_.ends.back().keep_files);
  EXPECT_TRUE(all_.starts.empty());
  Cleared(job, kTwo);
  ASSERT_EQ(all_.starts.size(), 1u);
  EXPECT_EQ(all_.starts[0].epoch, Epoch{2});
  EXPECT_TRUE(all_.starts[0].resumes);
}

TEST_F(JobTableRestartTest, WhoDoesNotReturnInTimeIsLost) {
  const JobId job = Run(Request(3));
  Restart();
  Returns(kOne, {Held(job, 1)});
  at_.now_ns += kReturnNs;
  Do(table_.OnTime(at_));
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Shown(job).losses().rbegin()->reason(),
            "worker w2 did not return after a restart of the coordinator");
  ASSERT_EQ(all_.ends.size(), 1u);
  EXPECT_EQ(all_.ends[0].worker, kOne);
  Cleared(job, kOne);
  EXPECT_TRUE(Returns(kTwo, {Held(job, 1)}).empty());  // Too late: it is a new epoch's turn.
  EXPECT_EQ(all_.starts.back().epoch, Epoch{2});
}

// It was stopped, or read logs of some gigabytes, before it heard anybody.
TEST_F(JobTableRestartTest, ACoordinatorThatWasAwayItselfWaitsAnew) {
  const JobId job = Run(Request(3));
  Restart();
  at_.now_ns += kReturnNs + kAwayNs;
  Do(table_.OnTime(at_));
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(table_.next_deadline_ns(), at_.now_ns + kReturnNs);
  Returns(kOne, {Held(job, 1)});
  at_.now_ns += kReturnNs;
  Do(table_.OnTime(at_));
  EXPECT_EQ(State(job), proto::RECOVERING) << "that wait has an end";
}

TEST_F(JobTableRestartTest, AWorkerThatWasStartedAnewHasLostItsProcesses) {
  const JobId job = Run(Request(3));
  Restart();
  Returns(kOne, {Held(job, 1)});
  AddNode(nodes_, WorkerId{9}, "w2", 2);
  Do(table_.OnNodeUp(WorkerId{9}, at_));
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Shown(job).losses().rbegin()->reason(), "worker w2 was started anew");
  Cleared(job, kOne);
  EXPECT_EQ(NodesOf(Record(job)), (std::vector<std::string>{"w1", "w2"}));
}

TEST_F(JobTableRestartTest, AHostThatWasNeverToldToStartHasNothing) {
  const JobId job = Run(Request(3));
  Restart();
  EXPECT_TRUE(Returns(kOne, {}).empty());
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Returns(kTwo, {Held(job, 1)}).size(), 1u);
  Cleared(job, kTwo);
  EXPECT_EQ(all_.starts.back().epoch, Epoch{2});
}

TEST_F(JobTableRestartTest, WhatIsBeingClearedDoesNotRun) {
  const JobId job = Run(Request(3));
  Restart();
  HeldEpoch clearing = Held(job, 1);
  clearing.clearing = true;
  EXPECT_EQ(Returns(kOne, {clearing}).size(), 1u);
  EXPECT_EQ(State(job), proto::RECOVERING);
  Returns(kTwo, {Held(job, 1)});
  Cleared(job, kTwo);
  EXPECT_EQ(State(job), proto::RECOVERING);  // They may still pass barriers on the other one.
  EXPECT_EQ(all_.ends.front().worker, kOne);
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::RUNNING);
}

TEST_F(JobTableRestartTest, AnOlderEpochIsNotKept) {
  const JobId job = Run(Request(3));
  Restart();
  EXPECT_TRUE(Returns(kOne, {Held(job, 0)}).empty());
  EXPECT_EQ(State(job), proto::RECOVERING);
}

TEST_F(JobTableRestartTest, AnEndingJobGoesOnEnding) {
  const JobId job = Run(Request(3));
  Exits(job, 0, Exit(Reached::kAborted, 6));
  Restart();
  EXPECT_EQ(State(job), proto::ENDING);
  EXPECT_EQ(Returns(kOne, {Held(job, 1)}), std::vector<JobId>{job});
  ASSERT_EQ(all_.ends.size(), 1u);
  EXPECT_TRUE(all_.ends[0].keep_files);
  EXPECT_TRUE(Returns(kTwo, {}).empty());
  EXPECT_TRUE(all_.ended.empty());
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 6);
}

// Its node has told it, and will not again; the other one takes its time.
TEST_F(JobTableRestartTest, ThatFilesAreLostIsNotForgottenBeforeAllHostsHaveClearedTheJob) {
  const JobId job = Run(Request(3));
  for (const std::uint32_t pid : {0, 1, 2}) Exits(job, pid, Exit(Reached::kEnded, 0));
  proto::JobCleared used;
  used.set_files_lost("no room");
  EXPECT_TRUE(table_.AddUsage(job, Epoch{1}, kOne, used));
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::ENDING);
  Restart();
  EXPECT_EQ(Shown(job).files_lost(), "no room");
  Returns(kOne, {});
  Returns(kTwo, {});
  EXPECT_EQ(State(job), proto::SUCCEEDED);
  EXPECT_EQ(Shown(job).files_lost(), "no room");
}

TEST_F(JobTableRestartTest, AnInterruptIsNotForgotten) {
  const JobId job = Run(Request(3));
  Do(table_.OnSignal(job, SIGINT, at_));
  Restart();
  Returns(kOne, {Held(job, 1)});
  Returns(kTwo, {Held(job, 1)});
  EXPECT_EQ(all_.ends.size(), 2u);
  Cleared(job, kOne);
  Cleared(job, kTwo);
  EXPECT_EQ(State(job), proto::CANCELLED);
}

TEST_F(JobTableRestartTest, AnEndingJobEndsWithoutHostsThatDoNotReturn) {
  const JobId job = Run(Request(3));
  Do(table_.OnCancel(job, "cancelled", at_));
  Restart();
  at_.now_ns += kReturnNs;
  Do(table_.OnTime(at_));
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).reason(), "cancelled");
  EXPECT_EQ(all_.ended, std::vector<JobId>{job});
}

TEST_F(JobTableRestartTest, ARecoveringJobIsPlacedOnlyWhenItsOldHostsAreBackOrGone) {
  const JobId job = Run(Request(3));
  Killed(job, 0, SIGKILL);
  Restart();
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Returns(kOne, {Held(job, 1)}).size(), 1u);
  EXPECT_EQ(all_.ends.back().worker, kOne);
  Cleared(job, kOne);
  Up(WorkerId{3}, 4);
  EXPECT_TRUE(all_.starts.empty());
  at_.now_ns += kReturnNs;
  Do(table_.OnTime(at_));
  ASSERT_EQ(all_.starts.size(), 1u);
  EXPECT_EQ(all_.starts[0].epoch, Epoch{2});
  EXPECT_EQ(Shown(job).losses_size(), 1);
}

TEST_F(JobTableRestartTest, ARecoveringJobThatLeftItsNodesWaitsForSlotsOnly) {
  const JobId job = Run(Request(4));
  Lost(kOne);
  Cleared(job, kTwo);
  Restart();
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_FALSE(table_.Awaits(kTwo));
  Up(WorkerId{3}, 4);
  EXPECT_EQ(all_.starts.back().epoch, Epoch{2});
  EXPECT_TRUE(all_.starts.back().resumes);
}

TEST_F(JobTableRestartTest, ASuspendedJobStaysSuspended) {
  const JobId job = Run(Request(3));
  Do(table_.OnSuspended(job, at_));
  Cleared(job, kOne);
  Restart();
  EXPECT_EQ(Returns(kTwo, {Held(job, 1)}).size(), 1u);
  Cleared(job, kTwo);
  at_.now_ns += kReturnNs;
  Do(table_.OnTime(at_));
  Up(WorkerId{3}, 4);
  EXPECT_EQ(State(job), proto::SUSPENDED);
  EXPECT_TRUE(all_.starts.empty());
  Restart();
  EXPECT_FALSE(table_.Awaits(kTwo));
  Do(table_.OnResume(job, at_));
  Up(WorkerId{4}, 4);
  EXPECT_EQ(all_.starts.back().epoch, Epoch{2});
}

TEST_F(JobTableRestartTest, LimitsAndCountsOutliveIt) {
  proto::JobSpec spec = Request(3);
  spec.set_time_limit_s(100);
  spec.set_restarts_max(1);
  const JobId job = Run(spec);
  Killed(job, 0, SIGKILL);
  Cleared(job, kOne);
  Cleared(job, kTwo);
  ASSERT_EQ(EpochOf(Record(job)), Epoch{2});
  Resumed(job, kOne);
  Resumed(job, kTwo);
  Later(60 * kSecondNs);
  StoreProgress();
  Later(20 * kSecondNs);
  StoreProgress();  // Not again so soon.
  Restart();
  Later(9 * kSecondNs);  // The coordinator is away.
  Returns(kOne, {Held(job, 2)});
  Returns(kTwo, {Held(job, 2)});
  EXPECT_EQ(table_.next_deadline_ns(), at_.now_ns + 40 * kSecondNs);
  Killed(job, 0, SIGKILL);
  EXPECT_EQ(State(job), proto::ENDING);
  EXPECT_NE(Shown(job).reason().find("gave up after 1 restart without"), std::string::npos);
}

TEST_F(JobTableRestartTest, ARestartInTheMiddleOfARecoveryStillTellsTheLoss) {
  const JobId job = Run(Request(3));
  Killed(job, 0, SIGKILL);
  Cleared(job, kOne);
  Cleared(job, kTwo);
  at_.unix_ms += 1500;  // The coordinator is away.
  Restart();
  at_.now_ns += kSecondNs / 2;
  at_.unix_ms -= 3'600'000;  // Somebody sets the clock back.
  HeldEpoch held = Held(job, 2);
  held.resumed_from = Superstep{800};
  Returns(kOne, {held});
  Returns(kTwo, {held});
  EXPECT_EQ(Lines(), "resumed from superstep 800 in 2.0 s\n");
  ASSERT_EQ(Shown(job).losses_size(), 1);
  EXPECT_TRUE(Shown(job).losses(0).resumed());
  EXPECT_EQ(Shown(job).losses(0).after_ms(), 2000u);
}

}  // namespace
}  // namespace bspnow::coordinator
