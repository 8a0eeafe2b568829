#include "coordinator/archived_jobs.h"

#include <gtest/gtest.h>

#include <optional>

#include "coordinator/core/testing/fake_world.h"

namespace bspnow::coordinator {
namespace {

class ArchivedJobsTest : public testing::Test {
 protected:
  /// A job of anna's, with an odd id, or of bob's.
  void Archive(std::uint64_t id) {
    JobRecord record;
    record.mutable_job()->set_job(id);
    record.mutable_job()->mutable_spec()->set_user(id % 2 == 1 ? "anna" : "bob");
    journal_.history[JobId{id}] = std::move(record);
  }

  KnownJobs Add(KnownJobs jobs, const std::vector<JobId>& kept) {
    std::optional<KnownJobs> known;
    archived_.AddTo(std::move(jobs), kept, [&](KnownJobs all) { known = std::move(all); });
    for (; !journal_.calls.empty(); ++reads_) {
      const PendingCall call = std::move(journal_.calls.front());
      journal_.calls.pop_front();
      call.done(outcome_);
    }
    EXPECT_TRUE(known.has_value());
    return known.value_or(KnownJobs());
  }

  FakeJournal journal_;
  absl::Status outcome_;  ///< Of reads.
  int reads_ = 0;
  ArchivedJobs archived_{journal_};
};

TEST_F(ArchivedJobsTest, ThoseOfWhichSomethingIsKeptHaveTheirOwners) {
  for (std::uint64_t id = 1; id <= 2500; ++id) Archive(id);
  const KnownJobs jobs = Add({{JobId{3000}, {.user = "anna", .has_ended = false}}},
                             {JobId{1}, JobId{2}, JobId{2400}, JobId{2999}, JobId{3000}});
  ASSERT_EQ(jobs.size(), 4u) << "of 2999 nobody knows anything";
  EXPECT_EQ(jobs.at(JobId{1}).user, "anna");
  EXPECT_EQ(jobs.at(JobId{2}).user, "bob");
  EXPECT_EQ(jobs.at(JobId{2400}).user, "bob");
  EXPECT_TRUE(jobs.at(JobId{2400}).has_ended);
  EXPECT_FALSE(jobs.at(JobId{3000}).has_ended);
}

TEST_F(ArchivedJobsTest, AsksForNoneTwice) {
  Archive(7);
  EXPECT_EQ(Add({}, {JobId{7}, JobId{8}}).size(), 1u);
  EXPECT_EQ(reads_, 1);
  EXPECT_EQ(Add({}, {JobId{7}, JobId{8}}).size(), 1u);
  EXPECT_EQ(reads_, 1);
  EXPECT_EQ(Add({}, {}).size(), 0u);
  Archive(9);
  EXPECT_EQ(Add({}, {JobId{9}}).size(), 1u);
}

TEST_F(ArchivedJobsTest, WhatCannotBeReadIsNobodysUntilItCan) {
  Archive(7);
  outcome_ = absl::DataLossError("damaged");
  EXPECT_EQ(Add({}, {JobId{7}}).size(), 0u);
  outcome_ = absl::OkStatus();
  EXPECT_EQ(Add({}, {JobId{7}}).size(), 1u);
}

}  // namespace
}  // namespace bspnow::coordinator
