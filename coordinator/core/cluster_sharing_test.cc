// What users and administrators ask of a cluster that they share: nodes to be forgotten, jobs to be
// altered, and which process is which.
#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

class ClusterSharingTest : public ClusterFixture {
 protected:
  absl::StatusOr<proto::Node> Forget(const std::string& name) {
    absl::StatusOr<proto::Node> answer = absl::UnknownError("no answer");
    cluster_->ForgetNode(name, [&](absl::StatusOr<proto::Node> node) { answer = std::move(node); });
    Settle();
    return answer;
  }
  /// Its lease runs out.
  void Lose() { world_.timers.Advance(60'000); }

  proto::AlterJobRequest Rename(JobId job, const std::string& name) {
    proto::AlterJobRequest request;
    request.set_job(Value(job));
    request.set_name(name);
    return request;
  }
};

// ---- Nodes --------------------------------------------------------------------------------------

TEST_F(ClusterSharingTest, ADrainOfANodeThatIsOffCanBeSeenAndTakenBack) {
  Start({.cluster = "c1", .term = 2, .drained_nodes = {"w1"}});
  ASSERT_EQ(cluster_->ListNodes().nodes_size(), 1);
  EXPECT_EQ(cluster_->ListNodes().nodes(0).spec().name(), "w1");
  EXPECT_EQ(cluster_->ListNodes().nodes(0).state(), proto::NODE_DRAINED);
  std::optional<absl::StatusOr<proto::Node>> answer;
  const auto into = [&](absl::StatusOr<proto::Node> node) { answer = std::move(node); };
  for (const Drain drain : {Drain::kDrain, Drain::kUndrain}) {
    answer.reset();
    cluster_->SetDrained("w1", drain, into);
    Settle();
    ASSERT_TRUE(answer.has_value() && answer->ok());
    EXPECT_EQ((*answer)->spec().name(), "w1");
  }
  EXPECT_EQ((*answer)->state(), proto::NODE_LOST);
  EXPECT_EQ(cluster_->ListNodes().nodes_size(), 0);
  FakeWorker worker = Join("w1", 2);
  EXPECT_EQ(cluster_->ListNodes().nodes(0).state(), proto::NODE_UP);
}

TEST_F(ClusterSharingTest, ALostNodeIsForgottenWithItsDrain) {
  Join("w1", 2);
  cluster_->SetDrained("w1", Drain::kDrain, [](const auto&) {});
  Settle();
  Lose();
  ASSERT_EQ(cluster_->ListNodes().nodes_size(), 1);
  const auto forgotten = Forget("w1");
  ASSERT_TRUE(forgotten.ok()) << forgotten.status();
  EXPECT_EQ(forgotten->spec().name(), "w1");
  EXPECT_EQ(cluster_->ListNodes().nodes_size(), 0);
  EXPECT_TRUE(absl::IsNotFound(Forget("w1").status()));
  Join("w1", 2);
  EXPECT_EQ(cluster_->ListNodes().nodes(0).state(), proto::NODE_UP);
}

TEST_F(ClusterSharingTest, OfANodeThatIsConnectingItIsSaidThatThisWillPass) {
  Introduce(Registration("w1", 2));
  const absl::Status refused = Forget("w1").status();
  EXPECT_EQ(refused.message(),
            "node w1 is connecting; if its worker is gone it counts as lost in some seconds, and "
            "can be forgotten then");
  Lose();
  EXPECT_TRUE(Forget("w1").ok());
}

TEST_F(ClusterSharingTest, ANodeThatIsUpIsNotForgotten) {
  Join("w1", 2);
  const absl::Status refused = Forget("w1").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_EQ(refused.message(),
            "node w1 is up; `bsp drain w1` moves its jobs away, and when its worker is stopped it "
            "can be forgotten");
  EXPECT_EQ(cluster_->ListNodes().nodes_size(), 1);
}

TEST_F(ClusterSharingTest, ANodeThatAJobWaitsForIsNotForgotten) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  Restart();
  cluster_->SetDrained("w1", Drain::kDrain, [](const auto&) {});
  EXPECT_TRUE(absl::IsNotFound(Forget("w1").status()));  // Nothing is known of it yet.
  StoredState stored{.cluster = "c1", .term = 9, .drained_nodes = {"w1"}};
  for (const auto& [id, record] : world_.journal.records) stored.jobs.push_back(record);
  Start(stored);
  const absl::Status refused = Forget("w1").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_NE(refused.message().find(absl::StrCat("job ", Value(job), " runs on node w1")),
            std::string::npos);
}

// ---- Alterations --------------------------------------------------------------------------------

TEST_F(ClusterSharingTest, AnAlterationIsAcknowledgedOnceTheJournalHasIt) {
  const JobId job = Submit(Request("key"));
  const Answer answer = NewAnswer();
  cluster_->Alter(Rename(job, "new"), Into(answer));
  EXPECT_FALSE(answer->has_value());
  Settle();
  ASSERT_TRUE(answer->has_value() && (*answer)->ok());
  EXPECT_EQ((**answer)->spec().name(), "new");
  Restart();
  EXPECT_EQ(Show(job).spec().name(), "new");
}

TEST_F(ClusterSharingTest, AnAlterationThatTheJournalRefusesIsSaid) {
  const JobId job = Submit(Request("key"));
  const Answer answer = NewAnswer();
  cluster_->Alter(Rename(job, "new"), Into(answer));
  Finish(world_.journal.calls, absl::ResourceExhaustedError("no space"));
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->status().message(),
            "done, but a restart of the coordinator will forget it: no space");
}

TEST_F(ClusterSharingTest, APriorityOvertakesThoseThatWait) {
  const JobId first = Submit(Request("one"));
  const JobId second = Submit(Request("two"));
  proto::AlterJobRequest request;
  request.set_job(Value(second));
  request.set_priority(1);
  cluster_->Alter(request, Into(NewAnswer()));
  Settle();
  Join("w1", 2);
  Settle();
  EXPECT_EQ(Show(first).state(), proto::WAITING);
  EXPECT_EQ(Show(second).state(), proto::RUNNING);
}

TEST_F(ClusterSharingTest, AJobThatNeverFitsFitsWhenItAsksForLess) {
  Join("w1", 2);
  proto::SubmitJobRequest submission = Request("key");
  submission.mutable_spec()->set_nodes(2);
  const JobId job = Submit(submission);
  EXPECT_EQ(Show(job).state(), proto::WAITING);
  proto::AlterJobRequest request;
  request.set_job(Value(job));
  request.set_nodes(1);
  cluster_->Alter(request, Into(NewAnswer()));
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
}

TEST_F(ClusterSharingTest, AJobThatNoNodeHasTheLabelForStartsWhenItNeedsNone) {
  Join("w1", 2);
  proto::SubmitJobRequest submission = Request("key");
  submission.mutable_spec()->add_constraints("gpu");
  const JobId job = Submit(submission);
  EXPECT_EQ(Show(job).state(), proto::WAITING);
  proto::AlterJobRequest request;
  request.set_job(Value(job));
  request.mutable_constraints();
  cluster_->Alter(request, Into(NewAnswer()));
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
}

TEST_F(ClusterSharingTest, ATimeLimitEndsAJobThatRuns) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::AlterJobRequest request;
  request.set_job(Value(job));
  request.set_time_limit_s(1);
  cluster_->Alter(request, Into(NewAnswer()));
  Settle();
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_signal).size() + Ends(worker), 0u);
  world_.timers.Advance(1'100);
  Settle();
  EXPECT_NE(OrdersOf(worker, &proto::Order::has_signal).size() + Ends(worker), 0u);
}

// Who resumes a job once more, since the first answer was lost, is told that it is resumed; not so
// once somebody has suspended it again: it is about to stop.
TEST_F(ClusterSharingTest, AJobThatIsSuspendedAgainIsNotTakenForResumed) {
  FakeWorker host = Join("w1", 2);
  auto request = Request("a");
  request.mutable_spec()->clear_checkpoints();
  request.mutable_spec()->mutable_checkpoints()->set_off(true);
  const JobId job = Submit(request);
  ReportBegun(host, job, Epoch{1}, {0, 1});
  cluster_->Suspend(job, [](const auto&) {});
  ReportExited(host, job, Epoch{1}, 1, SIGKILL);
  ReportCleared(host, job, Epoch{1});
  Settle();
  ASSERT_EQ(Show(job).state(), proto::SUSPENDED);
  absl::Status resumed;
  const auto resume = [&] {
    resumed = absl::UnknownError("no answer");
    cluster_->Resume(job, [&](const auto& answer) { resumed = answer.status(); });
    Settle();
  };
  for (int i = 0; i < 2; ++i) {
    resume();
    EXPECT_EQ(resumed, absl::OkStatus());
  }
  ReportBegun(host, job, Epoch{2}, {0, 1});
  cluster_->Suspend(job, [](const auto&) {});
  resume();
  EXPECT_TRUE(absl::IsFailedPrecondition(resumed)) << resumed;
}

TEST_F(ClusterSharingTest, AJobThatEndsIsNotTakenForResumed) {
  FakeWorker host = Join("w1", 2);
  const JobId job = Submit(Request("a"));
  ReportExited(host, job, Epoch{1}, 1, SIGKILL);
  Settle();
  cluster_->Suspend(job, [](const auto&) {});
  Settle();
  ASSERT_EQ(Show(job).state(), proto::SUSPENDED);
  cluster_->Resume(job, [](const auto&) {});
  ReportCleared(host, job, Epoch{1});
  Settle();
  ASSERT_EQ(Show(job).state(), proto::RUNNING);
  Cancel(job);
  ASSERT_EQ(Show(job).state(), proto::ENDING);
  const Answer resumed = NewAnswer();
  cluster_->Resume(job, Into(resumed));
  Settle();
  ASSERT_TRUE(resumed->has_value());
  EXPECT_EQ((*resumed)->status().message(), "job 1 is ending, not suspended");
}

TEST_F(ClusterSharingTest, WhatIsRefusedChangesNothing) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::AlterJobRequest request = Rename(job, "new");
  request.set_memory_bytes(1);
  const Answer answer = NewAnswer();
  cluster_->Alter(request, Into(answer));
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition((*answer)->status()));
  EXPECT_EQ(Show(job).spec().name(), "");
  request.set_job(99);
  cluster_->Alter(request, Into(answer));
  EXPECT_TRUE(absl::IsNotFound((*answer)->status()));
}

// ---- Processes ----------------------------------------------------------------------------------

TEST_F(ClusterSharingTest, AJobShowsItsProcessesAlsoToTheNextCoordinator) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Submit(Request("key"));
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  proto::JobStarted& started = *event.mutable_started();
  for (const std::uint32_t pid : {0u, 1u}) {
    started.add_pids(pid);
    started.add_os_pids(4000 + pid);
  }
  const proto::JobStarted said = started;
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  Settle();
  ASSERT_EQ(Show(job).placement(0).os_pids_size(), 2);
  EXPECT_EQ(Show(job).placement(0).os_pids(1), 4001u);
  Restart();
  proto::RegisterRequest returning = Returning(worker, 0);
  *returning.mutable_held(0)->mutable_started() = said;
  Join(returning);
  ASSERT_EQ(Show(job).placement(0).os_pids_size(), 2);
  EXPECT_EQ(Show(job).placement(0).os_pids(0), 4000u);
}

}  // namespace
}  // namespace bspnow::coordinator
