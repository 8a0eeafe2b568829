// Jobs that are submitted to start after others: whose these are, and where they are found.
#include <gtest/gtest.h>

#include <optional>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

const Caller kAnna{.user = "anna", .scopes = kScopesOfUser};

JobRecord Ended(std::uint64_t id, const std::string& user, proto::JobState state) {
  JobRecord record;
  record.set_submission_key(absl::StrCat("key", id));
  record.mutable_job()->set_job(id);
  record.mutable_job()->set_state(state);
  record.mutable_job()->mutable_spec()->set_user(user);
  record.mutable_job()->mutable_spec()->set_nprocs(1);
  return record;
}

/// In the history: 1 of anna succeeded, 2 of anna failed, 3 of berta succeeded.
class SubmissionsTest : public ClusterFixture {
 protected:
  void SetUp() override {
    auto& history = world_.journal.history;
    history[JobId{1}] = Ended(1, "anna", proto::SUCCEEDED);
    history[JobId{2}] = Ended(2, "anna", proto::FAILED);
    history[JobId{3}] = Ended(3, "berta", proto::SUCCEEDED);
    Start({.cluster = "c1", .term = 1, .last_job = JobId{3}, .forgotten = JobId{3}});
    host_ = Join("w1", 4);
  }

  static proto::SubmitJobRequest After(const std::string& key, std::vector<std::uint64_t> jobs) {
    proto::SubmitJobRequest request = Request(key);
    request.mutable_spec()->set_user("anna");
    for (const std::uint64_t job : jobs) request.mutable_spec()->add_after()->set_job(job);
    return request;
  }

  absl::StatusOr<JobId> SubmitAs(const Caller& caller, const proto::SubmitJobRequest& request) {
    std::optional<absl::StatusOr<JobId>> answer;
    cluster_->Submit(caller, request, [&](absl::StatusOr<JobId> job) { answer = std::move(job); });
    Settle();
    return answer.value_or(absl::UnknownError("no answer"));
  }

  FakeWorker host_;
};

TEST_F(SubmissionsTest, JobsOfTheHistoryCountWithTheirOutcome) {
  const auto good = SubmitAs(kAnna, After("good", {1}));
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ(Show(*good).state(), proto::RUNNING);
  const auto bad = SubmitAs(kAnna, After("bad", {1, 2}));
  ASSERT_TRUE(bad.ok()) << bad.status();
  EXPECT_EQ(Show(*bad).state(), proto::CANCELLED);
  EXPECT_EQ(Show(*bad).reason(), "was to start after the success of job 2, which failed");
}

TEST_F(SubmissionsTest, OnlyOnesOwnJobsAreWaitedFor) {
  const absl::Status refused = SubmitAs(kAnna, After("key", {1, 3})).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_EQ(refused.message(),
            "--after: job 3 is of user berta, and you are anna; its owner or an administrator may "
            "do that");
  EXPECT_TRUE(SubmitAs(kAnAdministrator, After("key", {1, 3})).ok());
}

TEST_F(SubmissionsTest, AJobThatDoesNotExistIsNotWaitedFor) {
  const absl::Status refused = SubmitAs(kAnna, After("key", {77})).status();
  EXPECT_TRUE(absl::IsNotFound(refused)) << refused;
  EXPECT_EQ(refused.message(), "--after: there is no job 77; `bsp jobs --all` lists them");
}

// Else a program passes its user's quotas, and what it has submitted is the next job's.
TEST_F(SubmissionsTest, AnAccountOfAPoolSubmitsNothing) {
  proto::RegisterRequest request = Registration("w2", 4);
  request.mutable_node()->set_accounts("pool:bsp1,anna");
  const FakeWorker worker = Join(request);
  const absl::Status refused = SubmitAs(kAnna, After("key", {})).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_NE(refused.message().find("is an account of node w2 for programs"), std::string::npos);
  EXPECT_TRUE(SubmitAs(kAnAdministrator, After("key", {})).ok());
}

TEST_F(SubmissionsTest, ARepeatedSubmissionIsTheSameJob) {
  const auto first = SubmitAs(kAnna, After("key", {1}));
  world_.journal.history.clear();
  EXPECT_EQ(SubmitAs(kAnna, After("key", {1})), first);
}

TEST_F(SubmissionsTest, WhatItWaitsForIsShownAndFoundAgainAfterARestart) {
  const JobId first = *SubmitAs(kAnna, After("first", {}));
  const JobId last = *SubmitAs(kAnna, After("last", {1, Value(first)}));
  ASSERT_EQ(Show(last).awaits_size(), 1);
  EXPECT_EQ(Show(last).awaits(0), Value(first));
  EXPECT_EQ(Show(last).reason(), absl::StrCat("after job ", Value(first)));
  StoredState stored{.cluster = "c1", .term = 2, .forgotten = JobId{3}};
  for (const auto& [id, record] : world_.journal.records) stored.jobs.push_back(record);
  world_.journal.calls.clear();
  world_.logs.calls.clear();
  Start(stored);
  EXPECT_EQ(Show(last).awaits_size(), 2);  // The history has not answered yet.
  Settle();
  ASSERT_EQ(Show(last).awaits_size(), 1);
  EXPECT_EQ(Show(last).awaits(0), Value(first));
}

class QuotasTest : public SubmissionsTest {
 protected:
  void SetUp() override {
    world_.quotas = {.slots = 3, .jobs = 2};
    SubmissionsTest::SetUp();
  }
};

TEST_F(QuotasTest, AUserHasSoManyJobs) {
  const auto first = SubmitAs(kAnna, After("first", {}));
  proto::SubmitJobRequest array = After("array", {});
  array.mutable_array()->set_last(1);
  array.mutable_array()->set_step(1);
  const absl::Status both = SubmitAs(kAnna, array).status();
  EXPECT_TRUE(absl::IsResourceExhausted(both));
  EXPECT_NE(both.message().find("has 1 jobs that have not ended, would get 2 more, and may have 2"),
            std::string::npos)
      << both;
  EXPECT_TRUE(SubmitAs(kAnna, After("second", {})).ok());
  const absl::Status third = SubmitAs(kAnna, After("third", {})).status();
  EXPECT_TRUE(absl::IsResourceExhausted(third));
  EXPECT_EQ(third.message(),
            "user anna has 2 jobs that have not ended, and may have 2 (--user-jobs of the "
            "coordinator); wait for some, or `bsp cancel` them");
  EXPECT_EQ(SubmitAs(kAnna, After("first", {})), first) << "its answer may have been lost";
  proto::SubmitJobRequest other = After("other", {});
  other.mutable_spec()->set_user("berta");
  EXPECT_TRUE(SubmitAs({.user = "berta", .scopes = kScopesOfUser}, other).ok());
  Cancel(*first);
  Settle();
  ReportCleared(host_, *first, Epoch{1});
  Settle();
  EXPECT_TRUE(SubmitAs(kAnna, After("third", {})).ok());
}

TEST_F(QuotasTest, AJobThatCouldNeverHaveItsSlotsIsRefused) {
  proto::SubmitJobRequest request = After("large", {});
  request.mutable_spec()->set_nprocs(4);
  const absl::Status refused = SubmitAs(kAnna, request).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(refused.message(),
            "-n 4: jobs of one user have at most 3 slots at once here (--user-slots of the "
            "coordinator)");
}

TEST_F(QuotasTest, WhoKeepsTooMuchSubmitsNothing) {
  world_.room = absl::ResourceExhaustedError("user anna has no room");
  EXPECT_EQ(SubmitAs(kAnna, After("first", {})).status(), world_.room);
  world_.room = absl::OkStatus();
  EXPECT_TRUE(SubmitAs(kAnna, After("first", {})).ok());
}

/// As after a restart: the history is asked anew how job 1 ended.
class AfterRestartTest : public SubmissionsTest {
 protected:
  AfterRestartTest() {
    waits_.set_submission_key("key4");
    waits_.mutable_job()->set_job(4);
    waits_.mutable_job()->set_state(proto::WAITING);
    *waits_.mutable_job()->mutable_spec() = After("key4", {1}).spec();
  }
  void Begin() {
    Start({.cluster = "c1",
           .term = 2,
           .last_job = JobId{4},
           .forgotten = JobId{3},
           .jobs = {waits_}});
  }

  JobRecord waits_;
};

TEST_F(AfterRestartTest, AHistoryThatCannotBeReadIsAskedAgain) {
  Begin();
  const std::string learns = "waits to learn how job 1 ended: ";
  EXPECT_EQ(Show(JobId{4}).reason(), learns + "the history of jobs has not answered yet");
  Finish(world_.journal.calls, absl::ResourceExhaustedError("too many open files"));
  EXPECT_EQ(Show(JobId{4}).state(), proto::WAITING);
  EXPECT_EQ(Show(JobId{4}).reason(), learns + "too many open files");
  for (int i = 0; i < 3; ++i) world_.timers.Advance(5'000);
  EXPECT_EQ(Show(JobId{4}).reason(), learns + "too many open files") << "also while it is asked";
  EXPECT_EQ(Waiting(world_.journal.calls).size(), 1u) << "a disk that hangs is asked once";
  Settle();
  EXPECT_EQ(Show(JobId{4}).awaits_size(), 0);
  EXPECT_EQ(Show(JobId{4}).state(), proto::WAITING);
}

TEST_F(AfterRestartTest, ASuspendedJobIsShownAsSuspendedWhateverItWouldWaitFor) {
  waits_.mutable_job()->set_state(proto::SUSPENDED);
  waits_.mutable_job()->set_reason("suspended");
  Begin();
  EXPECT_EQ(Show(JobId{4}).reason(), "suspended");
  EXPECT_EQ(Show(JobId{4}).awaits_size(), 1);
}

TEST_F(AfterRestartTest, ADamagedRecordTellsNobodyEver) {
  world_.journal.damaged = {JobId{1}};
  Begin();
  Settle();
  EXPECT_EQ(Show(JobId{4}).state(), proto::CANCELLED);
  EXPECT_EQ(Show(JobId{4}).reason(), "was to start after job 1, of which nothing is known now");
}

}  // namespace
}  // namespace bspnow::coordinator
