// Jobs that start after others have ended.
#include <gtest/gtest.h>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

enum class When { kSucceeded, kEnded };

class JobTableAfterTest : public JobTableTest {
 protected:
  JobTableAfterTest() { Up(kOne, 4); }

  static proto::JobSpec After(std::initializer_list<JobId> jobs, When when) {
    proto::JobSpec spec = Request(1);
    for (const JobId job : jobs) {
      proto::AfterJob& after = *spec.add_after();
      after.set_job(Value(job));
      after.set_any(when == When::kEnded);
    }
    return spec;
  }

  /// Its one process ends so.
  void End(JobId job, int status) {
    Exits(job, 0, Exit(Reached::kEnded, status));
    Cleared(job, kOne);
  }

  /// The same table, as a restart finds it.
  void Restart(JobId forgotten) {
    const JobTable before = std::exchange(table_, JobTable(nodes_));
    table_.OnForgotten(forgotten);
    all_ = {};
    for (const JobRecord* record : before.records())
      if (IdOf(*record) > forgotten) Do(table_.Restore(*record, at_));
  }
};

TEST_F(JobTableAfterTest, AJobWaitsUntilAllBeforeItHaveSucceeded) {
  const JobId first = Submit(Request(1));
  const JobId second = Submit(Request(1));
  const JobId last = Submit(After({first, second}, When::kSucceeded));
  EXPECT_EQ(State(last), proto::WAITING);
  EXPECT_EQ(Shown(last).reason(), "after jobs 1, 2");
  End(second, 0);
  EXPECT_EQ(Shown(last).reason(), "after job 1");
  End(first, 0);
  EXPECT_EQ(State(last), proto::RUNNING);
  EXPECT_EQ(Shown(last).reason(), "");
}

TEST_F(JobTableAfterTest, OneThatNeverRunsIsStoredOnlyOnceItIsAccepted) {
  const JobId first = Submit(Request(1));
  End(first, 3);
  const proto::JobSpec after = After({first}, When::kSucceeded);
  const JobTable::Submission refused = table_.OnSubmit(after, "again", at_);
  ASSERT_EQ(refused.orders.store.size(), 1u) << "its end would stay in the journal";
  const std::uint64_t sequence = refused.orders.store[0].sequence;
  const JobOrders forgotten = table_.OnStoreFailed(sequence, "disk full", at_);
  EXPECT_TRUE(forgotten.store.empty());
  EXPECT_EQ(forgotten.refused, std::vector<JobId>{refused.job});

  JobTable::Submission accepted = table_.OnSubmit(after, "again", at_);
  EXPECT_FALSE(accepted.known);
  Do(std::move(accepted.orders));
  EXPECT_EQ(State(accepted.job), proto::CANCELLED);
  EXPECT_EQ(all_.accepted.back(), accepted.job);
  EXPECT_EQ(all_.ended.back(), accepted.job);
}

TEST_F(JobTableAfterTest, OneThatIsToSucceedAndFailsCancelsAllThatFollow) {
  const JobId first = Submit(Request(1));
  const JobId second = Submit(After({first}, When::kSucceeded));
  const JobId third = Submit(After({second}, When::kSucceeded));
  const JobId anyhow = Submit(After({second}, When::kEnded));
  End(first, 3);
  EXPECT_EQ(State(second), proto::CANCELLED);
  EXPECT_EQ(Shown(second).reason(), "was to start after the success of job 1, which failed");
  EXPECT_EQ(State(third), proto::CANCELLED);
  EXPECT_EQ(Shown(third).reason(), "was to start after the success of job 2, which was cancelled");
  EXPECT_EQ(Shown(third).started_unix_ms(), 0);
  EXPECT_EQ(State(anyhow), proto::RUNNING);
}

TEST_F(JobTableAfterTest, AJobAfterOneThatHasEndedStartsOrIsCancelledAtOnce) {
  const JobId good = Submit(Request(1));
  End(good, 0);
  const JobId bad = Submit(Request(1));
  End(bad, 1);
  EXPECT_EQ(State(Submit(After({good}, When::kSucceeded))), proto::RUNNING);
  EXPECT_EQ(State(Submit(After({bad}, When::kEnded))), proto::RUNNING);
  const JobId never = Submit(After({good, bad}, When::kSucceeded));
  EXPECT_EQ(State(never), proto::CANCELLED);
  EXPECT_EQ(all_.accepted.back(), never);  // Its submitter learns its number all the same.
  EXPECT_EQ(all_.ended.back(), never);
}

TEST_F(JobTableAfterTest, ASuspendedOneStaysSoAndGoesOnWaiting) {
  const JobId first = Submit(Request(1));
  const JobId second = Submit(Request(1));
  const JobId last = Submit(After({first, second}, When::kSucceeded));
  Do(table_.OnSuspended(last, at_));
  End(first, 0);
  EXPECT_EQ(State(last), proto::SUSPENDED);
  Do(table_.OnResume(last, at_));
  EXPECT_EQ(Shown(last).reason(), "after job 2");
  End(second, 0);
  EXPECT_EQ(State(last), proto::RUNNING);
}

TEST_F(JobTableAfterTest, OneThatIsCancelledMeanwhileStaysSo) {
  const JobId first = Submit(Request(1));
  const JobId last = Submit(After({first}, When::kSucceeded));
  Do(table_.OnCancel(last, "cancelled", at_));
  End(first, 0);
  EXPECT_EQ(State(last), proto::CANCELLED);
  EXPECT_TRUE(table_.jobs().at(last).awaits.empty());
}

TEST_F(JobTableAfterTest, ARestartChangesNothing) {
  const JobId good = Submit(Request(1));
  const JobId runs = Submit(Request(1));
  const JobId last = Submit(After({good, runs}, When::kSucceeded));
  End(good, 0);
  Restart(JobId{0});
  EXPECT_EQ(State(last), proto::WAITING);
  EXPECT_EQ(Shown(last).reason(), "after job 2");
  EXPECT_TRUE(all_.recalled.empty());
}

TEST_F(JobTableAfterTest, AFailureThatWasStoredLastCancelsAfterARestart) {
  const JobId first = Submit(Request(1));
  const JobId last = Submit(After({first}, When::kSucceeded));
  JobRecord failed = Record(first);
  failed.mutable_job()->set_state(proto::FAILED);
  const JobRecord waits = Record(last);
  table_ = JobTable(nodes_);
  Do(table_.Restore(failed, at_));
  Do(table_.Restore(waits, at_));
  EXPECT_EQ(State(last), proto::CANCELLED);
}

TEST_F(JobTableAfterTest, TheOutcomesOfForgottenJobsAreAskedForOnce) {
  const JobId old = Submit(Request(1));
  End(old, 0);
  const JobId older = Submit(Request(1));
  End(older, 2);
  const JobId runs = Submit(Request(1));
  const JobId two = Submit(After({old, runs}, When::kSucceeded));
  const JobId also_two = Submit(After({old, runs}, When::kSucceeded));
  Restart(older);
  const JobId never = Submit(After({older}, When::kSucceeded));
  EXPECT_EQ(all_.recalled, (std::vector<JobId>{old, older}));
  Do(table_.OnOutcome(old, proto::SUCCEEDED, at_));
  EXPECT_EQ(Shown(two).reason(), "after job 3");
  EXPECT_EQ(Shown(also_two).reason(), "after job 3");
  Do(table_.OnOutcome(older, proto::FAILED, at_));
  EXPECT_EQ(State(never), proto::CANCELLED);
}

// A job had started after it while it was still known.
TEST_F(JobTableAfterTest, AnOutcomeThatWasKnownOnceIsAskedForWhenItIsForgotten) {
  const JobId old = Submit(Request(1));
  End(old, 0);
  End(Submit(After({old}, When::kSucceeded)), 0);
  while (table_.Find(old) != nullptr) Do(table_.OnCancel(Submit(Request(9)), "cancelled", at_));
  const JobId last = Submit(After({old}, When::kSucceeded));
  EXPECT_EQ(State(last), proto::WAITING);
  EXPECT_EQ(all_.recalled, std::vector<JobId>{old});
  Do(table_.OnOutcome(old, proto::SUCCEEDED, at_));
  EXPECT_EQ(State(last), proto::RUNNING);
}

TEST_F(JobTableAfterTest, WhatNobodyKnowsCountsAsAFailure) {
  table_.OnForgotten(JobId{5});
  table_.OnJobSeen(JobId{9});
  const JobId ok = Submit(After({JobId{5}}, When::kSucceeded));
  const JobId any = Submit(After({JobId{5}}, When::kEnded));
  const JobId never_was = Submit(After({JobId{6}}, When::kEnded));
  for (const JobId job : {JobId{5}, JobId{6}})
    Do(table_.OnOutcome(job, proto::JOB_STATE_UNSPECIFIED, at_));
  EXPECT_EQ(State(ok), proto::CANCELLED);
  EXPECT_EQ(State(any), proto::RUNNING);  // It has ended, for all that is known.
  EXPECT_EQ(State(never_was), proto::CANCELLED);
  EXPECT_EQ(Shown(never_was).reason(), "was to start after job 6, of which nothing is known now");
}

TEST_F(JobTableAfterTest, AJobThatTheJournalRefusesIsNotWaitedFor) {
  JobTable::Submission first = table_.OnSubmit(Request(1), "first", at_);
  JobTable::Submission last = table_.OnSubmit(After({first.job}, When::kEnded), "last", at_);
  Do(table_.OnStoreFailed(first.orders.store[0].sequence, "full", at_));
  Do(table_.OnStored(last.orders.store[0].sequence, at_));
  EXPECT_EQ(State(last.job), proto::CANCELLED);
}

}  // namespace
}  // namespace bspnow::coordinator
