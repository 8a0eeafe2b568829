#include <gtest/gtest.h>
#include <signal.h>

#include "base/link_feature.h"
#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

// ---- Suspended ----------------------------------------------------------------------------------

TEST_F(JobTableRecoveryTest, ASuspendedJobFreesItsSlotsAndContinuesLater) {
  const JobId job = Run(Request(4));
  const JobId next = Submit(Request(4));
  Do(table_.OnSuspended(job, at_));
  EXPECT_EQ(State(job), proto::SUSPENDED);
  EXPECT_EQ(all_.ends.size(), 2u);
  EXPECT_TRUE(all_.suspended.empty());
  ClearedByAll(job);
  EXPECT_EQ(all_.suspended, std::vector<JobId>{job});
  EXPECT_EQ(State(next), proto::RUNNING);
  Do(table_.OnResume(job, at_));
  EXPECT_EQ(State(job), proto::WAITING);
  Exits(next, 0, Exit(Reached::kAborted, 6));
  ClearedByAll(next);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_TRUE(LastStart().resumes);
  ResumedByAll(job, {.from_start = false, .superstep = Superstep{9}, .participants = 4});
  EXPECT_TRUE(Shown(job).losses().empty());
  EXPECT_EQ(Shown(job).restarts(), 0u);
}

TEST_F(JobTableRecoveryTest, AWaitingJobCanBeSuspendedToo) {
  const JobId job = Submit(Request(8));
  ASSERT_EQ(State(job), proto::WAITING);
  Do(table_.OnSuspended(job, at_));
  EXPECT_EQ(all_.suspended, std::vector<JobId>{job});
  Up(WorkerId{3}, 4);
  EXPECT_EQ(State(job), proto::SUSPENDED);
  Do(table_.OnResume(job, at_));
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_FALSE(LastStart().resumes);
}

TEST_F(JobTableRecoveryTest, WhatWasPlacedAndIsNotStartedHasNeverStarted) {
  const auto place = [this](const std::string& key) {
    const JobTable::Submission submission = table_.OnSubmit(Request(2), key, at_);
    table_.OnStored(submission.orders.store[0].sequence, at_);
    table_.Schedule(at_);
    EXPECT_NE(Shown(submission.job).started_unix_ms(), 0);
    return submission.job;
  };
  const JobId suspended = place("suspended");
  table_.OnSuspended(suspended, at_);
  EXPECT_EQ(Shown(suspended).started_unix_ms(), 0);
  const JobId cancelled = place("cancelled");
  table_.OnCancel(cancelled, "cancelled", at_);
  EXPECT_EQ(Shown(cancelled).started_unix_ms(), 0);
}

TEST_F(JobTableRecoveryTest, SuspendedWhileItRecovers) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  Do(table_.OnSuspended(job, at_));
  EXPECT_EQ(all_.ends.size(), 1u);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::SUSPENDED);
  EXPECT_EQ(all_.suspended, std::vector<JobId>{job});
  EXPECT_TRUE(all_.starts.empty());
}

TEST_F(JobTableRecoveryTest, ResumedBeforeItHasLeftItsNodes) {
  const JobId job = Run(Request(2));
  Do(table_.OnSuspended(job, at_));
  Do(table_.OnResume(job, at_));
  EXPECT_TRUE(all_.starts.empty());
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(LastStart().epoch, Epoch{2});
}

TEST_F(JobTableRecoveryTest, AHostLostWhileItIsSuspendedIsNoLoss) {
  const JobId job = Run(Request(3));
  Do(table_.OnSuspended(job, at_));
  Lost(kOne);
  Cleared(job, kTwo);
  EXPECT_EQ(State(job), proto::SUSPENDED);
  EXPECT_TRUE(Shown(job).losses().empty());
  EXPECT_EQ(all_.suspended.size(), 1u);
}

TEST_F(JobTableRecoveryTest, NoTimeLimitRunsWhileItIsSuspended) {
  proto::JobSpec spec = Request(2);
  spec.set_time_limit_s(60);
  const JobId job = Run(spec);
  at_.now_ns += 20 * kSecondNs;
  at_.unix_ms += 20'000;
  Do(table_.OnSuspended(job, at_));
  ClearedByAll(job);
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
  at_.now_ns += 1000 * kSecondNs;
  at_.unix_ms += 1'000'000;
  Do(table_.OnResume(job, at_));
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
  ResumedByAll(job, {});
  EXPECT_EQ(table_.next_deadline_ns(), at_.now_ns + 40 * kSecondNs);
}

// How long it took would have the suspension in it.
TEST_F(JobTableRecoveryTest, NoRestartOpensALossThatASuspensionHasEnded) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  Do(table_.OnSuspended(job, at_));
  ClearedByAll(job);
  Do(table_.OnResume(job, at_));
  ASSERT_EQ(State(job), proto::RUNNING);
  const JobRecord record = Record(job);
  table_ = JobTable(nodes_);
  Do(table_.Restore(record, at_));
  const HeldEpoch held{.job = job,
                       .epoch = EpochOf(record),
                       .participants = 2,
                       .clearing = false,
                       .begun = {Pid{0}, Pid{1}},
                       .exited = {}};
  Do(table_.OnHostReturned(FirstHost(job), {held}, at_).orders);
  EXPECT_TRUE(table_.Runs(job, EpochOf(record)));
  EXPECT_FALSE(Shown(job).losses(0).resumed());
}

TEST_F(JobTableRecoveryTest, ASuspendedJobCanBeCancelled) {
  const JobId job = Run(Request(2));
  Do(table_.OnSuspended(job, at_));
  ClearedByAll(job);
  Do(table_.OnCancel(job, "cancelled", at_));
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(all_.ended.size(), 1u);
}

// ---- Moved --------------------------------------------------------------------------------------

TEST_F(JobTableRecoveryTest, AMovedJobLeavesTheDrainedNodeAndLosesNothing) {
  const JobId job = Run(Request(2));
  const WorkerId before = FirstHost(job);
  Do(Drain(before));
  EXPECT_TRUE(ShouldMove(job));
  Do(table_.OnMove(job, at_));
  EXPECT_EQ(all_.ends.size(), 1u);
  Cleared(job, before);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_NE(FirstHost(job), before);
  ResumedByAll(job, {.from_start = false, .superstep = Superstep{9}, .participants = 2});
  EXPECT_TRUE(Shown(job).losses().empty());
  EXPECT_EQ(Lines(), "");
}

TEST_F(JobTableRecoveryTest, AJobStaysWhereThereIsNoRoomElsewhere) {
  const JobId job = Run(Request(3));
  Do(Drain(kOne));
  EXPECT_FALSE(ShouldMove(job));
  Do(table_.OnMove(job, at_));
  EXPECT_TRUE(all_.ends.empty());
  EXPECT_EQ(State(job), proto::RUNNING);
}

TEST_F(JobTableRecoveryTest, AJobStaysIfTheDrainIsUndoneWhileItIsSaved) {
  const JobId job = Run(Request(2));
  Do(Drain(FirstHost(job)));
  Do(Undrain(FirstHost(job)));
  Do(table_.OnMove(job, at_));
  EXPECT_TRUE(all_.ends.empty());
  EXPECT_EQ(State(job), proto::RUNNING);
}

TEST_F(JobTableRecoveryTest, OneLookAtTheRoomServesManyJobs) {
  const JobId job = Run(Request(3));
  const JobId other = Run(Request(1));
  const WorkerId drained = FirstHost(job);
  Up(WorkerId{3}, 2);
  Do(Drain(drained));
  JobTable::SpareRoom room = table_.SpareRoomNow();
  for (int i = 0; i < 2; ++i) {  // Whoever was looked at before has what he had.
    EXPECT_TRUE(table_.ShouldMove(job, room));
    EXPECT_TRUE(table_.ShouldMove(other, room));
  }
  Run(Request(1));
  EXPECT_FALSE(ShouldMove(job));
}

// ---- The journal fails --------------------------------------------------------------------------

TEST_F(JobTableRecoveryTest, ARestartThatCannotBeStoredIsTriedAgain) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  const JobOrders cleared = WithPass(table_.OnCleared(job, Epoch{1}, FirstHost(job), at_));
  ASSERT_EQ(cleared.store.size(), 2u);
  Do(table_.OnStored(cleared.store[0].sequence, at_));
  Do(table_.OnStoreFailed(cleared.store[1].sequence, "disk full", at_));
  EXPECT_TRUE(all_.starts.empty());
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Shown(job).reason(), "its start could not be stored: disk full");
  ASSERT_EQ(table_.next_deadline_ns(), at_.now_ns + kSecondNs);
  at_.now_ns += kSecondNs;
  Do(table_.OnTime(at_));
  EXPECT_EQ(LastStart().epoch, Epoch{3});
}

TEST_F(JobTableRecoveryTest, WhatIsTrueWithoutTheJournalHappens) {
  const JobId job = Run(Request(2));
  const auto fail = [&](const JobOrders& orders) {
    all_.Append(orders);
    for (const JobTransition& transition : orders.store) {
      Do(table_.OnStoreFailed(transition.sequence, "disk full", at_));
    }
  };
  fail(table_.OnSuspended(job, at_));
  fail(table_.OnCleared(job, Epoch{1}, FirstHost(job), at_));
  EXPECT_EQ(all_.suspended, std::vector<JobId>{job});
  Do(table_.OnResume(job, at_));
  fail(table_.OnExited(job, Epoch{2}, Pid{0}, Exit(Reached::kAborted, 6), at_));
  EXPECT_EQ(State(job), proto::ENDING);
  EXPECT_EQ(all_.ends.size(), 2u);
  fail(table_.OnCleared(job, Epoch{2}, FirstHost(job), at_));
  EXPECT_EQ(all_.ended, std::vector<JobId>{job});
}

TEST_F(JobTableRecoveryTest, AnEndThatCouldNotBeStoredIsStoredLater) {
  const JobId job = Run(Request(1));
  Exits(job, 0, Exit(Reached::kEnded, 0));
  JobOrders end = table_.OnCleared(job, Epoch{1}, FirstHost(job), at_);
  ASSERT_EQ(end.store.size(), 1u);
  for (int i = 0; i < 3; ++i) {
    table_.OnStoreFailed(end.store[0].sequence, "disk full", at_);
    ASSERT_NE(table_.next_deadline_ns(), kNoEnd);
    at_.now_ns = table_.next_deadline_ns();
    end = table_.OnTime(at_);
    ASSERT_EQ(end.store.size(), 1u);
    EXPECT_EQ(end.store[0].records[0].job().state(), proto::SUCCEEDED);
  }
  Do(table_.OnStored(end.store[0].sequence, at_));
  EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
}

TEST_F(JobTableRecoveryTest, WhatAUserAskedForIsStoredLaterIfItCouldNotBe) {
  const JobId job = Run(Request(1));
  const auto stored_later = [&](JobOrders orders) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(orders.store.size(), 1u);
      table_.OnStoreFailed(orders.store.back().sequence, "disk full", at_);
      EXPECT_NE(table_.next_deadline_ns(), kNoEnd);
      at_.now_ns = table_.next_deadline_ns();
      orders = table_.OnTime(at_);
    }
    EXPECT_EQ(orders.store.size(), 1u);
    const proto::JobState state = orders.store.back().records[0].job().state();
    Do(table_.OnStored(orders.store.back().sequence, at_));
    EXPECT_EQ(table_.next_deadline_ns(), kNoEnd);
    return state;
  };
  JobOrders suspended = table_.OnSuspended(job, at_);
  Do(table_.OnStored(suspended.store[0].sequence, at_));
  const WorkerId host = FirstHost(job);
  EXPECT_EQ(stored_later(table_.OnCleared(job, Epoch{1}, host, at_)), proto::SUSPENDED);
  Lost(kOne);
  Lost(kTwo);
  EXPECT_EQ(stored_later(table_.OnResume(job, at_)), proto::WAITING);
  EXPECT_EQ(stored_later(table_.OnCancel(job, "cancelled", at_)), proto::CANCELLED);
}

// ---- What an image needs ------------------------------------------------------------------------

TEST_F(JobTableRecoveryTest, NeedsAWorkerThatKnowsTheLibbspOfItsImage) {
  const JobId job = Run(Request(2));
  AddNode(nodes_, WorkerId{3}, "w3", 4).cpu_features = {LinkFeature(14)};
  Do(table_.OnNodeUp(WorkerId{3}, at_));
  const WorkerId host = FirstHost(job), other = host == kOne ? kTwo : kOne;
  Lost(other);
  table_.SetCpuFeatures(job, {LinkFeature(12)});
  Lost(host);
  EXPECT_EQ(Shown(job).reason(),
            "needs link version 12, which node w3 lacks; only a worker of that version can go on "
            "with it");
  Up(other, 2);  // Of a build that does not say which it has.
  EXPECT_EQ(FirstHost(job), other);
}

}  // namespace
}  // namespace bspnow::coordinator
