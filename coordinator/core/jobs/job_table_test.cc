#include "coordinator/core/jobs/job_table.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

TEST_F(JobTableTest, WhatNodesHaveUsedIsAddedUpOnceEach) {
  Up(kOne, 1);
  Up(kTwo, 1);
  const JobId job = Submit(Request(2));
  const Epoch epoch = EpochOf(Record(job));
  proto::JobCleared used;
  used.set_cpu_ns(5);
  used.set_peak_memory_bytes(700);
  for (std::uint32_t pid : {0, 1}) Exits(job, pid, Exit(Reached::kEnded, 0));
  table_.AddUsage(job, Epoch{7}, kOne, used);         // Of another epoch.
  for (const WorkerId worker : {kOne, kOne, kTwo}) {  // One says so twice.
    table_.AddUsage(job, epoch, worker, used);
    Cleared(job, worker);
  }
  EXPECT_EQ(State(job), proto::SUCCEEDED);
  EXPECT_EQ(Shown(job).cpu_ns(), 10u);
  EXPECT_EQ(Shown(job).peak_memory_bytes(), 700u);
}

TEST_F(JobTableTest, RunsAJobFromSubmissionToEnd) {
  Up(kOne, 1);
  Up(kTwo, 1);
  const JobId job = Submit(Request(2));
  EXPECT_EQ(all_.accepted, std::vector<JobId>{job});
  EXPECT_EQ(State(job), proto::RUNNING);
  ASSERT_EQ(all_.starts.size(), 1u);
  EXPECT_EQ(all_.starts[0].epoch, Epoch{1});
  EXPECT_EQ(all_.starts[0].hosts.size(), 2u);
  Do(table_.OnBegun(job, Epoch{1}, Pid{0}, at_));
  Do(table_.OnBegun(job, Epoch{1}, Pid{1}, at_));
  Exits(job, 1, Exit(Reached::kEnded, 0));
  EXPECT_TRUE(all_.ends.empty());
  Exits(job, 0, Exit(Reached::kEnded, 0));
  EXPECT_EQ(State(job), proto::ENDING);
  ASSERT_EQ(all_.ends.size(), 2u);
  EXPECT_TRUE(all_.ends[0].keep_files);
  proto::Job figures;
  figures.mutable_totals()->set_supersteps(12);
  figures.mutable_checkpoints()->set_count(2);
  figures.set_output_bytes(34);
  table_.SetFigures(job, figures);
  Cleared(job, kTwo);
  EXPECT_TRUE(all_.ended.empty());
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::SUCCEEDED);
  EXPECT_EQ(Shown(job).exit_status(), 0);
  const proto::Job& stored = all_.store.back().records[0].job();
  EXPECT_EQ(stored.totals().supersteps(), 12u);
  EXPECT_EQ(stored.checkpoints().count(), 2u);
  EXPECT_EQ(stored.output_bytes(), 34u);
  EXPECT_EQ(all_.cleared, std::vector<JobId>{job});
  EXPECT_EQ(all_.ended, std::vector<JobId>{job});
  EXPECT_EQ(table_.nodes()[0].slots_used, 0u);
}

TEST_F(JobTableTest, ActsOnlyUponWhatIsStored) {
  NodeUp(kOne, 1);
  JobOrders orders = table_.OnSubmit(Request(1), "key", at_).orders;
  EXPECT_TRUE(orders.accepted.empty());
  ASSERT_EQ(orders.store.size(), 1u);
  orders = WithPass(table_.OnStored(1, at_));
  EXPECT_EQ(orders.accepted.size(), 1u);
  EXPECT_TRUE(orders.starts.empty());
  ASSERT_EQ(orders.store.size(), 1u);
  EXPECT_EQ(orders.store[0].records[0].job().state(), proto::RUNNING);
  orders = table_.OnStored(2, at_);
  EXPECT_EQ(orders.starts.size(), 1u);
  orders = table_.OnExited(JobId{1}, Epoch{1}, Pid{0}, Exit(Reached::kStarted, 0), at_);
  EXPECT_TRUE(orders.store.empty());
  ASSERT_EQ(orders.finished.size(), 1u);
  orders = table_.OnOutputDurable(JobId{1}, Epoch{1}, absl::OkStatus(), at_);
  EXPECT_TRUE(orders.ends.empty());
  ASSERT_EQ(orders.store.size(), 1u);
  EXPECT_EQ(orders.store[0].records[0].job().state(), proto::ENDING);
  orders = table_.OnStored(3, at_);
  EXPECT_EQ(orders.ends.size(), 1u);
  orders = table_.OnCleared(JobId{1}, Epoch{1}, kOne, at_);
  EXPECT_TRUE(orders.ended.empty());
  orders = table_.OnStored(4, at_);
  EXPECT_EQ(orders.ended.size(), 1u);
}

TEST_F(JobTableTest, TheSameKeyIsTheSameJob) {
  const JobId job = Submit(Request(1));
  const JobTable::Submission again = table_.OnSubmit(Request(1), "key1", at_);
  EXPECT_TRUE(again.known);
  EXPECT_TRUE(again.accepted);
  EXPECT_EQ(again.job, job);
  EXPECT_EQ(table_.records().size(), 1u);
}

TEST_F(JobTableTest, ASubmissionThatCannotBeStoredIsRefusedAndForgotten) {
  const JobTable::Submission submission = table_.OnSubmit(Request(1), "key", at_);
  const JobOrders orders = table_.OnStoreFailed(1, "disk full", at_);
  EXPECT_EQ(orders.refused, std::vector<JobId>{submission.job});
  EXPECT_EQ(table_.Find(submission.job), nullptr);
  EXPECT_FALSE(table_.OnSubmit(Request(1), "key", at_).known);
}

TEST_F(JobTableTest, AStartThatCannotBeStoredIsTriedAgain) {
  NodeUp(kOne, 1);
  const JobId job = table_.OnSubmit(Request(1), "key", at_).job;
  WithPass(table_.OnStored(1, at_));
  JobOrders orders = table_.OnStoreFailed(2, "disk full", at_);
  EXPECT_TRUE(orders.starts.empty());
  EXPECT_EQ(State(job), proto::WAITING);
  EXPECT_EQ(Shown(job).reason(), "its start could not be stored: disk full");
  at_.now_ns = table_.next_deadline_ns();
  orders = WithPass(table_.OnTime(at_));
  EXPECT_EQ(State(job), proto::RUNNING);
}

// Whoever is behind the jobs that a pass looks at needs no pass when it comes.
TEST_F(JobTableTest, ManyJobsInTheQueueCostNoPassEach) {
  Up(kOne, 1);
  Submit(Request(1));
  for (std::size_t i = 0; i < kBackfillDepth; ++i) Submit(Request(1));
  const JobId last = Submit(Request(1));
  EXPECT_EQ(table_.JobsBefore(last), kBackfillDepth);
  table_.OnSubmit(Request(1), "behind", at_);
  table_.OnStored(stored_ + 1, at_);
  EXPECT_FALSE(table_.pass_due());
  EXPECT_EQ(table_.JobsBefore(JobId{Value(last) + 1}), kBackfillDepth + 1);
}

TEST_F(JobTableTest, VeryManyDifferentJobsTakeMoreThanOnePass) {
  for (std::uint32_t nprocs = 2; nprocs <= 301; ++nprocs) Submit(Request(nprocs));
  const JobId last = Submit(Request(1));
  NodeUp(kOne, 1);
  JobOrders orders = table_.Schedule(at_);
  EXPECT_TRUE(table_.pass_due());
  EXPECT_EQ(State(last), proto::WAITING);
  Do(std::move(orders));
  EXPECT_EQ(State(last), proto::RUNNING);
}

TEST_F(JobTableTest, JobsThatCanNeverStartAreLookedAtAgainWhenTheNodesChange) {
  Up(kOne, 1);
  const JobId large = Submit(Request(2));
  const JobId small = Submit(Request(1));
  EXPECT_EQ(State(small), proto::RUNNING);
  Drain(kOne);
  Do({});
  EXPECT_EQ(Shown(large).reason(), "all nodes are drained");
  Undrain(kOne);
  Up(kTwo, 1);
  EXPECT_EQ(Shown(large).reason(), "needs 2 slots, 1 free");
}

TEST_F(JobTableTest, SaysWhyAJobWaitsAndStartsItWhenItFits) {
  const JobId job = Submit(Request(2));
  EXPECT_EQ(Shown(job).reason(), "no worker is up");
  Up(kOne, 1);
  EXPECT_EQ(Shown(job).reason(),
            "needs 2 slots, the cluster has 1: start more workers or use --oversubscribe");
  Up(kTwo, 1);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(Shown(job).reason(), "");
  EXPECT_EQ(NodesOf(Record(job)), (std::vector<std::string>{"w1", "w2"}));
}

TEST_F(JobTableTest, TheNextJobGetsTheSlotsOnlyWhenAllNodesAreCleared) {
  Up(kOne, 1);
  const JobId first = Submit(Request(1));
  const JobId second = Submit(Request(1));
  EXPECT_EQ(Shown(second).reason(), "needs 1 slot, 0 free");
  Exits(first, 0, Exit(Reached::kStarted, 0));
  EXPECT_EQ(State(second), proto::WAITING);
  Cleared(first, kOne);
  EXPECT_EQ(State(second), proto::RUNNING);
}

TEST_F(JobTableTest, AFailedProcessEndsTheJobWithBsprunsWords) {
  Up(kOne, 2);
  const JobId job = Submit(OnceOnly(2));
  Killed(job, 1, SIGSEGV);
  EXPECT_EQ(Lines(), "pid 1 (on w1) was killed by signal 11 (Segmentation fault) in superstep 3\n");
  EXPECT_EQ(all_.ends.size(), 1u);
  Exits(job, 0, Exit(Reached::kRunning, 0));
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGSEGV);
  EXPECT_EQ(Shown(job).reason(),
            "pid 1 (on w1) was killed by signal 11 (Segmentation fault) in superstep 3");
}

TEST_F(JobTableTest, NamesTheProcessOfTheMachineThatFailed) {
  Up(kOne, 1);
  Up(kTwo, 1);
  const JobId job = Submit(OnceOnly(2));
  proto::JobStarted started;
  for (const std::uint32_t pid : {7u, 1u}) {  // The first is not of this job.
    started.add_pids(pid);
    started.add_os_pids(4000 + pid);
  }
  table_.SetOsPids(job, Epoch{2}, NameOf(kTwo), started);  // Not of this epoch.
  EXPECT_EQ(Shown(job).placement(1).os_pids_size(), 0);
  table_.SetOsPids(job, Epoch{1}, NameOf(kTwo), started);
  Killed(job, 1, SIGSEGV);
  EXPECT_EQ(Lines(),
            "pid 1 (OS pid 4001 on w2) was killed by signal 11 (Segmentation fault) in superstep 3"
            "\n");
}

TEST_F(JobTableTest, TellsTheExitStatusOfAProcessThatFailedWithoutAWord) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  Exits(job, 0, Exit(Reached::kEnded, 3));
  Cleared(job, kOne);
  EXPECT_EQ(Shown(job).exit_status(), 3);
  EXPECT_EQ(Shown(job).reason(), "pid 0 (on w1) ended with exit status 3");
  EXPECT_EQ(Lines(), "");
}

TEST_F(JobTableTest, AJobThatCannotStartFailsWithItsReason) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  NotStarted(job, kOne, "no such program", 127);
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 127);
  EXPECT_EQ(Lines(), "no such program\n");
}

TEST_F(JobTableTest, ALostWorkerFailsItsJobsThatMustNotStartAgainAndNoOthers) {
  Up(kOne, 1);
  Up(kTwo, 2);
  const JobId both = Submit(OnceOnly(2));
  const JobId other = Submit(Request(1));
  ASSERT_EQ(State(other), proto::RUNNING);
  all_ = {};
  Do(NodeLost(kOne, {{both, Superstep{812}}}));
  EXPECT_EQ(Lines(), "worker w1 lost at superstep 812: lease expired\n");
  ASSERT_EQ(all_.ends.size(), 1u);
  EXPECT_EQ(all_.ends[0].worker, kTwo);
  Cleared(both, kTwo);
  EXPECT_EQ(State(both), proto::FAILED);
  EXPECT_EQ(Shown(both).exit_status(), 1);
  EXPECT_EQ(State(other), proto::RUNNING);
}

TEST_F(JobTableTest, AWorkerLostBeforeTheStartSendsTheJobBackToWait) {
  NodeUp(kOne, 1);
  const JobId job = table_.OnSubmit(Request(1), "key", at_).job;
  WithPass(table_.OnStored(1, at_));
  ASSERT_EQ(State(job), proto::RUNNING);
  NodeLost(kOne, {});
  EXPECT_EQ(State(job), proto::WAITING);
  EXPECT_TRUE(table_.OnStored(2, at_).starts.empty());
  WithPass(NodeUp(kTwo, 1));
  const JobOrders orders = table_.OnStored(4, at_);
  ASSERT_EQ(orders.starts.size(), 1u);
  EXPECT_EQ(orders.starts[0].epoch, Epoch{2});
  EXPECT_EQ(orders.starts[0].hosts[0].worker, kTwo);
}

TEST_F(JobTableTest, EventsOfAnOlderEpochChangeNothing) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  all_ = {};
  Do(table_.OnExited(job, Epoch{0}, Pid{0}, Exit(Reached::kAborted, 6), at_));
  Do(table_.OnBroken(job, Epoch{0}, "broken", at_));
  Do(table_.OnCleared(job, Epoch{0}, kOne, at_));
  Do(table_.OnExited(job, Epoch{1}, Pid{7}, Exit(Reached::kAborted, 6), at_));
  Do(table_.OnCleared(job, Epoch{1}, kOne, at_));  // Nobody asked it to clear.
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_TRUE(all_.ends.empty());
}

TEST_F(JobTableTest, ADrainedNodeKeepsItsJobsAndTakesNoMore) {
  Up(kOne, 2);
  const JobId first = Submit(Request(1));
  Do(Drain(kOne));
  const JobId second = Submit(Request(1));
  EXPECT_EQ(State(first), proto::RUNNING);
  EXPECT_EQ(Shown(second).reason(), "all nodes are drained");
  Do(Undrain(kOne));
  EXPECT_EQ(State(second), proto::RUNNING);
}

}  // namespace
}  // namespace bspnow::coordinator
