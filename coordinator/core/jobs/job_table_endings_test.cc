#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

TEST_F(JobTableTest, CancellingAWaitingJobEndsItWithoutAStart) {
  const JobId job = Submit(Request(1));
  Do(table_.OnCancel(job, "cancelled by ada", at_));
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).reason(), "cancelled by ada");
  EXPECT_EQ(all_.ended, std::vector<JobId>{job});
  Up(kOne, 1);
  EXPECT_TRUE(all_.starts.empty());
}

TEST_F(JobTableTest, CancellingARunningJobKillsItAtOnce) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  Do(table_.OnCancel(job, "cancelled", at_));
  ASSERT_EQ(all_.ends.size(), 1u);
  EXPECT_TRUE(all_.signals.empty());
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGTERM);
  Do(table_.OnCancel(job, "again", at_));
  EXPECT_EQ(Shown(job).reason(), "cancelled");
  EXPECT_EQ(all_.ended.size(), 1u);
}

TEST_F(JobTableTest, CancellingAJobThatHasAReasonAddsWhoDidIt) {
  Up(kOne, 2);
  const JobId job = Submit(Request(2));
  Exits(job, 1, Exit(Reached::kEnded, 3));
  Do(table_.OnCancel(job, "cancelled by eve", at_));
  EXPECT_EQ(Shown(job).reason(), "pid 1 (on w1) ended with exit status 3; cancelled by eve");
}

TEST_F(JobTableTest, CancellingAJobThatIsOverLeavesItAsItIs) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  Exits(job, 0, Exit(Reached::kEnded, 0));
  Do(table_.OnCancel(job, "too late", at_));
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::SUCCEEDED);
}

TEST_F(JobTableTest, CancelledBetweenPlacementAndItsStorageNeverStarts) {
  NodeUp(kOne, 1);
  const JobId job = table_.OnSubmit(Request(1), "key", at_).job;
  table_.OnStored(1, at_);
  table_.OnCancel(job, "cancelled", at_);
  const JobOrders orders = table_.OnStored(3, at_);
  EXPECT_TRUE(orders.starts.empty());
  EXPECT_EQ(orders.ended, std::vector<JobId>{job});
  EXPECT_EQ(State(job), proto::CANCELLED);
}

TEST_F(JobTableTest, AnInterruptIsPassedOnAndKillsAfterTwoSeconds) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
  Do(table_.OnSignal(job, SIGINT, at_));
  ASSERT_EQ(all_.signals.size(), 1u);
  EXPECT_EQ(all_.signals[0].signal, SIGINT);
  EXPECT_TRUE(all_.ends.empty());
  ASSERT_EQ(table_.next_deadline_ns(), at_.now_ns + 2 * kSecondNs);
  at_.now_ns = table_.next_deadline_ns();
  Do(table_.OnTime(at_));
  EXPECT_EQ(all_.ends.size(), 1u);
  EXPECT_EQ(table_.next_deadline_ns(), at_.now_ns + kClearWithFilesNs);
  Cleared(job, kOne);
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGINT);
  EXPECT_EQ(Lines(), "");
}

TEST_F(JobTableTest, ASecondInterruptDoesNotWait) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  Do(table_.OnSignal(job, SIGTERM, at_));
  Do(table_.OnSignal(job, SIGTERM, at_));
  EXPECT_EQ(all_.signals.size(), 1u);
  EXPECT_EQ(all_.ends.size(), 1u);
}

TEST_F(JobTableTest, OtherSignalsArePassedOnAlone) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  Do(table_.OnSignal(job, SIGUSR1, at_));
  ASSERT_EQ(all_.signals.size(), 1u);
  EXPECT_EQ(all_.signals[0].signal, SIGUSR1);
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
}

TEST_F(JobTableTest, AnInterruptEndsAWaitingJob) {
  const JobId job = Submit(Request(1));
  Do(table_.OnSignal(job, SIGINT, at_));
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGINT);
}

TEST_F(JobTableTest, NobodyReadingTheOutputEndsAsTheShellWould) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  Do(table_.OnSignal(job, SIGPIPE, at_));
  EXPECT_EQ(all_.signals[0].signal, SIGTERM);
  Cleared(job, kOne);
  Exits(job, 0, Exit(Reached::kEnded, 0));
  Cleared(job, kOne);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGPIPE);
}

TEST_F(JobTableTest, TheTimeLimitWarnsThenKills) {
  Up(kOne, 1);
  proto::JobSpec spec = Request(1);
  spec.set_time_limit_s(60);
  const JobId job = Submit(spec);
  Resumed(job, kOne);
  ASSERT_EQ(table_.next_deadline_ns(), at_.now_ns + 60 * kSecondNs);
  at_.now_ns += 60 * kSecondNs;
  Do(table_.OnTime(at_));
  EXPECT_EQ(Lines(), "the time limit of 60 s is reached\n");
  ASSERT_EQ(all_.signals.size(), 1u);
  EXPECT_EQ(all_.signals[0].signal, SIGTERM);
  at_.now_ns += 2 * kSecondNs;
  Do(table_.OnTime(at_));
  EXPECT_EQ(all_.ends.size(), 1u);
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).reason(), "the time limit of 60 s is reached");
}

TEST_F(JobTableTest, OnlyAnAttachedJobEndsWithItsClient) {
  Up(kOne, 2);
  const JobId batch = Submit(Request(1));
  proto::JobSpec spec = Request(1);
  spec.set_attached(true);
  const JobId attached = Submit(spec);
  Do(table_.OnClientLeft(batch, at_));
  Do(table_.OnClientLeft(attached, at_));
  EXPECT_EQ(State(batch), proto::RUNNING);
  EXPECT_EQ(State(attached), proto::ENDING);
  EXPECT_EQ(Shown(attached).reason(), "its client left");
}

TEST_F(JobTableRecoveryTest, TheTimeOfALossBeginsWhenItIsNoticed) {
  const JobId job = Run(Request(3));
  Killed(job, 1, SIGSEGV);
  at_.now_ns += kSecondNs;
  at_.unix_ms -= 3'600'000;  // Somebody sets the clock back.
  ClearedByAll(job);
  at_.now_ns += 7 * kSecondNs / 10;
  ResumedByAll(job, {.from_start = false, .superstep = Superstep{800}, .participants = 3});
  EXPECT_EQ(Shown(job).losses(0).after_ms(), 1700u);
  EXPECT_NE(Lines().find("resumed from superstep 800 in 1.7 s"), std::string::npos);
}

TEST_F(JobTableTest, AJobEndsOnceItsOutputIsDurable) {
  Up(kOne, 2);
  const JobId job = Submit(Request(2));
  JobOrders orders;
  for (const std::uint32_t pid : {0, 1}) {
    ProcessEnd end = Exit(Reached::kEnded, 0);
    end.output_bytes = 10 + pid;
    orders.Append(table_.OnExited(job, Epoch{1}, Pid{pid}, end, at_));
  }
  ASSERT_EQ(orders.finished.size(), 1u);
  ASSERT_EQ(orders.finished[0].printed.size(), 2u);
  EXPECT_EQ(orders.finished[0].printed[1].output_bytes, 11u);
  EXPECT_TRUE(orders.store.empty());
  Do(table_.OnOutputDurable(job, Epoch{1}, absl::OkStatus(), at_));
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::SUCCEEDED);
}

TEST_F(JobTableTest, ALossWhileItsOutputIsMadeDurableCostsNothing) {
  Up(kOne, 1);
  const JobId job = Submit(OnceOnly(1));
  table_.OnExited(job, Epoch{1}, Pid{0}, Exit(Reached::kEnded, 0), at_);
  Do(table_.OnBroken(job, Epoch{1}, "the worker was shut down", at_));
  Lost(kOne);
  EXPECT_TRUE(all_.ended.empty());
  Do(table_.OnOutputDurable(job, Epoch{1}, absl::OkStatus(), at_));
  EXPECT_EQ(State(job), proto::SUCCEEDED);
}

TEST_F(JobTableTest, AJobWhoseOutputIsLostRunsAgain) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  output_durable_ = absl::FailedPreconditionError("a gap in its output");
  Exits(job, 0, Exit(Reached::kEnded, 0));
  EXPECT_EQ(State(job), proto::RECOVERING);
}

TEST_F(JobTableTest, AJobThatRunsAgainMakesAnewWhatFilesItHadLost) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  table_.OnExited(job, Epoch{1}, Pid{0}, Exit(Reached::kEnded, 0), at_);
  Lost(kOne);
  EXPECT_EQ(Shown(job).files_lost(), "worker " + NameOf(kOne) + " lost: lease expired");
  Do(table_.OnOutputDurable(job, Epoch{1}, absl::FailedPreconditionError("a gap"), at_));
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Shown(job).files_lost(), "");
}

TEST_F(JobTableTest, AnInterruptedJobEndsThoughItsOutputIsLost) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  Do(table_.OnSignal(job, SIGINT, at_));
  table_.OnExited(job, Epoch{1}, Pid{0}, Exit(Reached::kEnded, 0), at_);
  const JobOrders orders =
      table_.OnOutputDurable(job, Epoch{1}, absl::FailedPreconditionError("a gap"), at_);
  EXPECT_TRUE(orders.finished.empty());
  Do(orders);
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGINT);
  EXPECT_EQ(Lines(), "some of its output is lost: a gap\n");
}

TEST_F(JobTableTest, AJobThatIsCancelledBeforeItsOutputIsDurableDoesNotRunAgain) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  table_.OnExited(job, Epoch{1}, Pid{0}, Exit(Reached::kEnded, 0), at_);
  const JobOrders cancelled = table_.OnCancel(job, "cancelled by ada", at_);
  ASSERT_EQ(cancelled.store.size(), 1u);
  EXPECT_TRUE(cancelled.store[0].records[0].cancelled());
  Do(cancelled);
  EXPECT_TRUE(table_.OnCancel(job, "cancelled by eve", at_).store.empty()) << "it is noted already";
  EXPECT_EQ(State(job), proto::ENDING);
  Do(table_.OnOutputDurable(job, Epoch{1}, absl::FailedPreconditionError("a gap"), at_));
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).reason(), "cancelled by ada");
}

// Its client has what it waited for, or does not wait any more.
TEST_F(JobTableTest, AJobThatHasEndedIsNotCancelledWhenItsClientLeaves) {
  Up(kOne, 2);
  proto::JobSpec spec = Request(1);
  spec.set_attached(true);
  const JobId kept = Submit(spec);
  const JobId lost = Submit(spec);
  for (const JobId job : {kept, lost}) {
    table_.OnExited(job, Epoch{1}, Pid{0}, Exit(Reached::kEnded, 0), at_);
    Do(table_.OnClientLeft(job, at_));
  }
  Do(table_.OnOutputDurable(kept, Epoch{1}, absl::OkStatus(), at_));
  Do(table_.OnOutputDurable(lost, Epoch{1}, absl::FailedPreconditionError("a gap"), at_));
  for (const JobId job : {kept, lost}) Cleared(job, kOne);
  EXPECT_EQ(State(kept), proto::SUCCEEDED);
  EXPECT_EQ(Shown(kept).reason(), "");
  EXPECT_EQ(State(lost), proto::CANCELLED) << "it would run again for nobody";
  EXPECT_EQ(Shown(lost).reason(), "its client left");
}

TEST_F(JobTableTest, AJobWithoutAnyNodeAnyMoreFailsWhenItsOutputIsLost) {
  Up(kOne, 1);
  const JobId job = Submit(OnceOnly(1));
  table_.OnExited(job, Epoch{1}, Pid{0}, Exit(Reached::kEnded, 0), at_);
  Lost(kOne);
  Do(table_.OnOutputDurable(job, Epoch{1}, absl::FailedPreconditionError("a gap"), at_));
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(all_.ended, std::vector<JobId>{job});
}

TEST_F(JobTableTest, AJobEndsThoughItsDiskFails) {
  Up(kOne, 1);
  const JobId job = Submit(Request(1));
  output_durable_ = absl::DataLossError("input/output error");
  Exits(job, 0, Exit(Reached::kEnded, 0));
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::SUCCEEDED);
  EXPECT_NE(Lines().find("input/output error"), std::string::npos);
}

TEST_F(JobTableRecoveryTest, AJobEndsWhenTheFirstProcessHasLeftWell) {
  const JobId job = Run(Request(3));
  EXPECT_FALSE(table_.Ends(job));
  Exits(job, 2, Exit(Reached::kAttached, 0));  // bsp_begin did not need it.
  EXPECT_FALSE(table_.Ends(job));
  Exits(job, 1, Exit(Reached::kEnded, 0));
  EXPECT_TRUE(table_.Ends(job));
  const JobId lost = Run(Request(1));
  Killed(lost, 0, SIGSEGV);
  EXPECT_FALSE(table_.Ends(lost));
}

// What it has said is acknowledged, and the other one may take an hour.
TEST_F(JobTableRecoveryTest, WhatANodeHasUsedIsStoredWhileAnotherOneClears) {
  const JobId job = Run(Request(3));
  Do(table_.OnCancel(job, "cancelled", at_));
  proto::JobCleared used;
  used.set_cpu_ns(7);
  EXPECT_TRUE(table_.AddUsage(job, Epoch{1}, kOne, used));
  Cleared(job, kOne);
  at_.now_ns += kStoreProgressNs;
  const std::vector<JobId> jobs = table_.StoredBy(at_.now_ns - kStoreProgressNs);
  ASSERT_EQ(jobs, std::vector<JobId>{job});
  const JobOrders orders = table_.StoreProgress(jobs, at_);
  ASSERT_EQ(orders.store.size(), 1u);
  EXPECT_EQ(orders.store[0].records[0].job().cpu_ns(), 7u);
  EXPECT_EQ(orders.store[0].records[0].job().state(), proto::ENDING);
}

TEST_F(JobTableRecoveryTest, ANodeThatNeverClearsAJobAwayIsGivenUp) {
  const JobId job = Run(Request(3));
  Killed(job, 0, SIGKILL);
  Cleared(job, kOne);
  Later(kClearNs - 1);
  EXPECT_TRUE(all_.deaf.empty());
  Later(1);
  ASSERT_EQ(all_.deaf.size(), 1u);
  EXPECT_EQ(all_.deaf[0].worker, kTwo);
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_NE(Lines().find("node w2 is given up: it has not ended the processes of job 1 in time\n"),
            std::string::npos);
  Up(WorkerId{3}, 2);
  EXPECT_EQ(State(job), proto::RECOVERING);  // The old one may still run.
  Lost(kTwo);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
}

TEST_F(JobTableRecoveryTest, FilesThatWereToComeFromALostNodeAreNamed) {
  for (const WorkerId lost : {kTwo, kOne}) {
    const JobId job = Run(Request(3));
    for (std::uint32_t pid = 0; pid < 3; ++pid) Exits(job, pid, Exit(Reached::kEnded, 0));
    const bool had_files = FirstHost(job) == lost;
    Lost(lost);
    Cleared(job, lost == kOne ? kTwo : kOne);
    EXPECT_EQ(State(job), proto::SUCCEEDED);
    const std::string reason =
        "files that it left, if any, are lost: worker " + NameOf(lost) + " lost: lease expired";
    EXPECT_EQ(Shown(job).reason(), had_files ? reason : "");
    EXPECT_EQ(Shown(job).files_lost().empty(), !had_files);
    Up(lost, 2);
  }
}

TEST_F(JobTableRecoveryTest, ANodeHasLongerToBringFilesBeforeItClears) {
  const JobId job = Run(Request(3));
  for (std::uint32_t pid = 0; pid < 3; ++pid) Exits(job, pid, Exit(Reached::kEnded, 0));
  EXPECT_EQ(State(job), proto::ENDING);
  Later(kClearWithFilesNs - 1);
  EXPECT_TRUE(all_.deaf.empty());
  Later(1);
  EXPECT_EQ(all_.deaf.size(), 2u);
}

}  // namespace
}  // namespace bspnow::coordinator
