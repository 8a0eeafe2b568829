// Arrays of jobs.
#include <gtest/gtest.h>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

class JobTableArrayTest : public JobTableTest {
 protected:
  static proto::ArraySpec Array(std::uint64_t first, std::uint64_t last, std::uint64_t step) {
    proto::ArraySpec array;
    array.set_first(first);
    array.set_last(last);
    array.set_step(step);
    return array;
  }
  static proto::ArraySpec AtOnce(std::uint32_t at_once, std::uint64_t elements) {
    proto::ArraySpec array = Array(1, elements, 1);
    array.set_at_once(at_once);
    return array;
  }

  JobId SubmitArray(const proto::ArraySpec& array) {
    JobTable::Submission submission = table_.OnSubmitArray(Request(1), array, "key", at_);
    Do(std::move(submission.orders));
    return submission.job;
  }

  void End(JobId job) {
    Exits(job, 0, Exit(Reached::kEnded, 0));
    Cleared(job, kOne);
  }

  std::vector<JobId> Running() {
    std::vector<JobId> running;
    for (const JobRecord* record : table_.records())
      if (record->job().state() == proto::RUNNING) running.push_back(IdOf(*record));
    return running;
  }
};

using Ids = std::vector<JobId>;

TEST_F(JobTableArrayTest, ElementsAreJobsWithTheirIndexInTheEnvironment) {
  Up(kOne, 2);
  const JobId first = SubmitArray(Array(10, 31, 10));
  EXPECT_EQ(first, JobId{1});
  ASSERT_EQ(table_.jobs().size(), 3u);
  const proto::Job& last = Shown(JobId{3});
  EXPECT_EQ(last.array().job(), 1u);
  EXPECT_EQ(last.array().index(), 30u);
  EXPECT_EQ(last.array().elements(), 3u);
  ASSERT_EQ(last.spec().environment_size(), 2);
  EXPECT_EQ(last.spec().environment(0), "BSP_ARRAY_ID=30");
  EXPECT_EQ(last.spec().environment(1), "BSP_ARRAY_JOB=1");
  EXPECT_EQ(all_.accepted, Ids{first});
  EXPECT_EQ(Running(), (Ids{JobId{1}, JobId{2}}));
}

TEST_F(JobTableArrayTest, AllElementsAreStoredTogetherOrNone) {
  Up(kOne, 4);
  const JobTable::Submission submission =
      table_.OnSubmitArray(Request(1), Array(1, 3, 1), "key", at_);
  ASSERT_EQ(submission.orders.store.size(), 1u);
  EXPECT_EQ(submission.orders.store[0].records.size(), 3u);
  EXPECT_FALSE(table_.OnSubmitArray(Request(1), Array(1, 3, 1), "key", at_).accepted);
  Do(table_.OnStoreFailed(submission.orders.store[0].sequence, "disk full", at_));
  EXPECT_EQ(all_.refused, (Ids{JobId{1}, JobId{2}, JobId{3}}));
  EXPECT_TRUE(table_.jobs().empty());
}

TEST_F(JobTableArrayTest, ARepeatedSubmissionIsTheSameArray) {
  const JobId first = SubmitArray(Array(1, 3, 1));
  const JobTable::Submission again = table_.OnSubmitArray(Request(1), Array(1, 3, 1), "key", at_);
  EXPECT_TRUE(again.known && again.accepted);
  EXPECT_EQ(again.job, first);
  EXPECT_EQ(table_.jobs().size(), 3u);
}

TEST_F(JobTableArrayTest, OnlyAsManyRunAsMayAtOnce) {
  Up(kOne, 8);
  SubmitArray(AtOnce(2, 5));
  EXPECT_EQ(Running(), (Ids{JobId{1}, JobId{2}}));
  EXPECT_EQ(Shown(JobId{3}).reason(), "at most 2 of array 1 at once");
  const JobId other = Submit(Request(1));  // Nobody waits for elements that may not run.
  EXPECT_EQ(State(other), proto::RUNNING);
  End(JobId{2});
  EXPECT_EQ(Running(), (Ids{JobId{1}, JobId{3}, other}));
  End(JobId{1});
  End(JobId{3});
  EXPECT_EQ(Running(), (Ids{JobId{4}, JobId{5}, other}));
}

TEST_F(JobTableArrayTest, AHeldElementCanBeCancelledOrSuspended) {
  Up(kOne, 8);
  SubmitArray(AtOnce(1, 4));
  Do(table_.OnCancel(JobId{2}, "cancelled", at_));
  Do(table_.OnSuspended(JobId{3}, at_));
  End(JobId{1});
  EXPECT_EQ(Running(), Ids{JobId{4}});
  Do(table_.OnResume(JobId{3}, at_));
  EXPECT_EQ(State(JobId{3}), proto::WAITING);
  End(JobId{4});
  EXPECT_EQ(Running(), Ids{JobId{3}});
}

TEST_F(JobTableArrayTest, TheLimitHoldsAfterARestart) {
  Up(kOne, 8);
  SubmitArray(AtOnce(2, 4));
  const JobTable before = std::exchange(table_, JobTable(nodes_));
  for (const JobRecord* record : before.records()) Do(table_.Restore(*record, at_));
  EXPECT_EQ(Running(), (Ids{JobId{1}, JobId{2}}));
  EXPECT_TRUE(table_.FindByKey("key") != nullptr && table_.FindByKey("") == nullptr);
}

}  // namespace
}  // namespace bspnow::coordinator
