// Quotas: slots that the jobs of one user have at once.
#include <gtest/gtest.h>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobTableCapsTest : public JobTableTest {
 protected:
  JobTableCapsTest() { table_ = JobTable(nodes_, {.slots = 4}); }

  JobId SubmitOf(const std::string& user, std::uint32_t nprocs, int priority = 0) {
    proto::JobSpec spec = Request(nprocs);
    spec.set_user(user);
    spec.set_priority(priority);
    return Submit(spec);
  }

  void End(JobId job, std::uint32_t nprocs) {
    for (std::uint32_t pid = 0; pid < nprocs; ++pid) Exits(job, pid, Exit(Reached::kEnded, 0));
    Cleared(job, kOne);
  }
};

TEST_F(JobTableCapsTest, OneUserDoesNotTakeAllAndHoldsNobodyUp) {
  Up(kOne, 16);
  const JobId first = SubmitOf("anna", 3);
  const JobId large = SubmitOf("anna", 2);
  const JobId small = SubmitOf("anna", 1);
  const JobId other = SubmitOf("bob", 4);
  EXPECT_EQ(State(first), proto::RUNNING);
  EXPECT_EQ(State(large), proto::WAITING);
  EXPECT_EQ(Shown(large).reason(), "at most 4 slots for jobs of user anna at once");
  EXPECT_EQ(State(small), proto::WAITING) << "it would overtake the larger one for ever";
  EXPECT_EQ(State(other), proto::RUNNING);
  End(first, 3);
  EXPECT_EQ(State(large), proto::RUNNING);
  EXPECT_EQ(State(small), proto::RUNNING);
  EXPECT_EQ(Shown(large).reason(), "");
}

TEST_F(JobTableCapsTest, AnUrgentJobGoesBeforeThoseThatAreHeld) {
  Up(kOne, 16);
  const JobId first = SubmitOf("anna", 3);
  SubmitOf("anna", 2);
  const JobId urgent = SubmitOf("anna", 1, 5);
  EXPECT_EQ(State(first), proto::RUNNING);
  EXPECT_EQ(State(urgent), proto::RUNNING);
}

TEST_F(JobTableCapsTest, WhatIsHeldCanBeCancelledAndSuspended) {
  Up(kOne, 16);
  const JobId first = SubmitOf("anna", 4);
  const JobId second = SubmitOf("anna", 4);
  const JobId third = SubmitOf("anna", 4);
  Do(table_.OnCancel(second, "cancelled", at_));
  Do(table_.OnSuspended(third, at_));
  End(first, 4);
  EXPECT_EQ(State(third), proto::SUSPENDED);
  Do(table_.OnResume(third, at_));
  EXPECT_EQ(State(third), proto::RUNNING);
}

TEST_F(JobTableCapsTest, WhatRanGoesOnWhateverOthersOfItsUserHaveTaken) {
  Up(kOne, 4);
  Up(kTwo, 4);
  const JobId first = SubmitOf("anna", 4);
  const WorkerId host = FirstHost(first);
  Do(table_.OnBroken(first, EpochOf(Record(first)), "its bsp-host died", at_));
  const JobId second = SubmitOf("anna", 4);
  Cleared(first, host);
  EXPECT_EQ(State(second), proto::RUNNING) << "the first one holds nothing for a moment";
  Later(10 * kSecondNs);
  EXPECT_EQ(State(first), proto::RUNNING);
}

TEST_F(JobTableCapsTest, ASmallerQuotaAfterARestartStopsNothingThatRuns) {
  Up(kOne, 16);
  const JobId first = SubmitOf("anna", 4);
  const JobId second = SubmitOf("anna", 1);
  const JobTable before = std::exchange(table_, JobTable(nodes_, {.slots = 2}));
  for (const JobRecord* record : before.records()) Do(table_.Restore(*record, at_));
  EXPECT_EQ(State(first), proto::RUNNING);
  EXPECT_EQ(State(second), proto::WAITING);
}

TEST_F(JobTableCapsTest, WhatNeedsMoreThanASmallerQuotaRunsAloneAndHoldsNobodyUpForEver) {
  const JobId large = SubmitOf("anna", 4);
  const JobId small = SubmitOf("anna", 1);
  const JobTable before = std::exchange(table_, JobTable(nodes_, {.slots = 2}));
  for (const JobRecord* record : before.records()) Do(table_.Restore(*record, at_));
  Up(kOne, 16);
  EXPECT_EQ(State(large), proto::RUNNING);
  EXPECT_EQ(State(small), proto::WAITING);
  End(large, 4);
  EXPECT_EQ(State(small), proto::RUNNING);
}

}  // namespace
}  // namespace bspnow::coordinator
