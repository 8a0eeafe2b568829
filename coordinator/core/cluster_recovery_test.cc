// Commits, going back, suspending, and a coordinator that comes back: what must not happen before
// what.
#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

absl::Status Broken() { return absl::DataLossError("input/output error"); }

class ClusterRecoveryTest : public ClusterFixture {
 protected:
  void SetUp() override {
    ClusterFixture::SetUp();
    host_ = Join("w1", 2);
    job_ = Run(host_);
    partner_ = Join("w2", 2);
    Settle();
  }

  /// The job is in superstep `supersteps`, and takes a checkpoint if one is due.
  void Progress(Epoch epoch, std::uint64_t supersteps) {
    ReportProgress(host_, job_, epoch, supersteps);
  }

  /// The last checkpoint that the host was asked for; 0: none.
  std::uint64_t Asked() const {
    const auto orders = OrdersOf(host_, &proto::Order::has_take_checkpoint);
    return orders.empty() ? 0 : orders.back().take_checkpoint().checkpoint();
  }

  /// Images are durable on both nodes: what is missing is the commit.
  std::uint64_t SaveAndCopy() {
    Progress(Epoch{1}, 1);
    const std::uint64_t number = Asked();
    EXPECT_NE(number, 0u);
    ReportStored(host_, job_, Epoch{1}, number, {0, 1});
    EXPECT_EQ(OrdersOf(host_, &proto::Order::has_copy_checkpoint).size(), 1u);
    ReportCopied(host_, job_, number, "w2");
    return number;
  }
  std::uint64_t Commit() {
    const std::uint64_t number = SaveAndCopy();
    Settle();
    EXPECT_EQ(Show(job_).checkpoints().committed(), number);
    return number;
  }

  /// Of the first `pids` processes, each of which has printed this much.
  std::uint64_t CommitPrinted(std::uint64_t supersteps, std::uint32_t pids, std::uint64_t printed) {
    Progress(Epoch{1}, supersteps);
    const std::uint64_t number = Asked();
    proto::WorkerEvent event = EventOf(job_, Epoch{1});
    proto::CheckpointStored& stored = *event.mutable_checkpoint_stored();
    stored.set_checkpoint(number);
    stored.set_superstep(supersteps);
    stored.set_participants(pids);
    for (std::uint32_t pid = 0; pid < pids; ++pid) {
      stored.add_images()->set_pid(pid);
      stored.mutable_images(static_cast<int>(pid))->set_output_bytes(printed);
    }
    EXPECT_EQ(Report(host_, event), absl::OkStatus());
    ReportCopied(host_, job_, number, "w2");
    Settle();
    EXPECT_EQ(Show(job_).checkpoints().committed(), number);
    return number;
  }
  /// With which epoch 2 was started; 0: the start.
  std::uint64_t ResumedFrom() const {
    for (const FakeWorker* worker : {&host_, &partner_})
      for (const proto::Order& order : OrdersOf(*worker, &proto::Order::has_start))
        if (order.start().epoch() == 2) return order.start().resume().checkpoint();
    ADD_FAILURE() << "not started again";
    return 0;
  }

  /// The epoch is over on all its nodes.
  void Lose(Epoch epoch) {
    ReportExited(host_, job_, epoch, 1, SIGKILL);
    Settle();
    ReportCleared(host_, job_, epoch);
  }

  FakeWorker host_;
  FakeWorker partner_;
  JobId job_{};
};

using Names = std::vector<std::string>;

// ---- The commit ---------------------------------------------------------------------------------

TEST_F(ClusterRecoveryTest, ACommitSyncsTheLogThenWritesTheJournalAndThenCounts) {
  const std::uint64_t number = SaveAndCopy();
  EXPECT_EQ(Waiting(world_.logs.calls), Names{"sync 1"});
  EXPECT_TRUE(world_.journal.calls.empty());
  Finish(world_.logs.calls, absl::OkStatus());
  EXPECT_EQ(Waiting(world_.journal.calls), Names{"checkpoints 1"});
  EXPECT_EQ(Show(job_).checkpoints().committed(), 0u);
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_EQ(Show(job_).checkpoints().committed(), number);
  EXPECT_EQ(cluster_->Figures().checkpoints.ended.at("committed"), 1u);
  EXPECT_EQ(cluster_->Figures().of_jobs.at(0).counters.checkpoints_committed, 1u);
}

TEST_F(ClusterRecoveryTest, ALogThatCannotBeSyncedGivesTheCheckpointUp) {
  const Answer answer = NewAnswer();
  cluster_->Checkpoint(job_, Into(answer));
  SaveAndCopy();
  Finish(world_.logs.calls, Broken());
  EXPECT_TRUE(world_.journal.calls.empty());
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE(absl::IsAborted((*answer)->status())) << (*answer)->status();
  EXPECT_EQ(Show(job_).state(), proto::RUNNING);
  EXPECT_EQ(Show(job_).checkpoints().given_up(), 1u);
}

TEST_F(ClusterRecoveryTest, ALogThatHasLostOutputSendsTheJobBack) {
  SaveAndCopy();
  Finish(world_.logs.calls, absl::FailedPreconditionError("bytes 0 to 9 are not in the log"));
  EXPECT_EQ(Show(job_).state(), proto::RECOVERING);
  Settle();
  EXPECT_EQ(Show(job_).checkpoints().committed(), 0u);
}

TEST_F(ClusterRecoveryTest, AJournalThatRefusesTheCommitGivesTheCheckpointUp) {
  SaveAndCopy();
  Finish(world_.logs.calls, absl::OkStatus());
  Finish(world_.journal.calls, Broken());
  EXPECT_EQ(Show(job_).checkpoints().committed(), 0u);
  EXPECT_EQ(Show(job_).checkpoints().given_up(), 1u);
  EXPECT_EQ(Show(job_).state(), proto::RUNNING);
  EXPECT_EQ(cluster_->Figures().checkpoints.ended.at("given_up"), 1u);
  EXPECT_EQ(cluster_->Figures().of_jobs.at(0).counters.checkpoints_given_up, 1u);
}

TEST_F(ClusterRecoveryTest, NoCommitOfAnEpochThatIsOverIsWritten) {
  SaveAndCopy();
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  Finish(world_.logs.calls, absl::OkStatus());
  for (const PendingCall& call : world_.journal.calls) EXPECT_EQ(call.what, "job 1");
  Settle();
  EXPECT_EQ(Show(job_).checkpoints().committed(), 0u);
}

TEST_F(ClusterRecoveryTest, WhoAsksForACheckpointHearsOfItsCommit) {
  const Answer answer = NewAnswer();
  cluster_->Checkpoint(job_, Into(answer));
  const std::uint64_t number = SaveAndCopy();
  EXPECT_FALSE(answer->has_value());
  Settle();
  ASSERT_TRUE(answer->has_value() && (*answer)->ok());
  EXPECT_EQ((**answer)->checkpoints().committed(), number);
}

// ---- Going back ---------------------------------------------------------------------------------

TEST_F(ClusterRecoveryTest, TheNextEpochStartsOnceTheLastIsClearedAndTheLogIsCut) {
  const std::uint64_t number = Commit();
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  Settle();
  EXPECT_EQ(Ends(host_), 1u);
  EXPECT_EQ(Starts(host_) + Starts(partner_), 1u);
  ReportCleared(host_, job_, Epoch{1});
  SettleUntilLog();
  EXPECT_EQ(Waiting(world_.logs.calls), Names{"cut 1"});
  EXPECT_EQ(Starts(host_) + Starts(partner_), 1u);
  Settle();
  ASSERT_EQ(Starts(host_) + Starts(partner_), 2u);
  const FakeWorker& next = Starts(partner_) == 1 ? partner_ : host_;
  const proto::StartJob start = OrdersOf(next, &proto::Order::has_start).back().start();
  EXPECT_EQ(start.epoch(), 2u);
  EXPECT_EQ(start.resume().checkpoint(), number);
  EXPECT_EQ(start.resume().images_size(), 2);
  EXPECT_EQ(start.resume().images(0).holders_size(), 2);
  const proto::Order first = OrdersOf(host_, &proto::Order::has_start).front();
  EXPECT_NE(start.key(), first.start().key()) << "who had a part in the epoch before has none now";
}

TEST_F(ClusterRecoveryTest, WithoutACheckpointItStartsFromTheBeginning) {
  Lose(Epoch{1});
  Settle();
  const FakeWorker& next = Starts(partner_) == 1 ? partner_ : host_;
  const proto::StartJob start = OrdersOf(next, &proto::Order::has_start).back().start();
  EXPECT_EQ(start.epoch(), 2u);
  EXPECT_FALSE(start.has_resume());
}

TEST_F(ClusterRecoveryTest, ALogThatCannotBeCutStartsNothing) {
  Commit();
  Lose(Epoch{1});
  SettleUntilLog();
  Finish(world_.logs.calls, Broken());
  EXPECT_EQ(Starts(host_) + Starts(partner_), 1u);
  EXPECT_EQ(Show(job_).state(), proto::RECOVERING);
}

TEST_F(ClusterRecoveryTest, AJobGoesBackToACheckpointThatItsLogStillCovers) {
  const std::uint64_t covered = CommitPrinted(1, kNprocs, 10);
  CommitPrinted(2, kNprocs, 20);
  world_.logs.stdout_bytes = 19;
  Lose(Epoch{1});
  Settle();
  EXPECT_EQ(ResumedFrom(), covered);
  ASSERT_FALSE(world_.logs.launcher_lines.empty());
  EXPECT_NE(world_.logs.launcher_lines.back().find("lacks 2 bytes"), std::string::npos)
      << world_.logs.launcher_lines.back();
}

TEST_F(ClusterRecoveryTest, AJobWhoseLogCoversNoCheckpointStartsOver) {
  CommitPrinted(1, kNprocs, 10);
  CommitPrinted(2, kNprocs, 20);
  world_.logs.stdout_bytes = 9;
  Lose(Epoch{1});
  Settle();
  EXPECT_EQ(ResumedFrom(), 0u);
}

TEST_F(ClusterRecoveryTest, WhatAProcessPrintedThatHadLeftIsNeededOfTheLogToo) {
  proto::WorkerEvent left = EventOf(job_, Epoch{1});
  left.mutable_exited()->set_pid(1);
  left.mutable_exited()->set_reached(static_cast<std::uint32_t>(Reached::kUnneeded));
  left.mutable_exited()->set_output_bytes(30);
  EXPECT_EQ(Report(host_, left), absl::OkStatus());
  CommitPrinted(1, 1, 10);
  world_.logs.stdout_bytes = 29;
  ReportExited(host_, job_, Epoch{1}, 0, SIGKILL);
  Settle();
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  EXPECT_EQ(ResumedFrom(), 0u);
}

TEST_F(ClusterRecoveryTest, AJobThatIsCancelledWhileItsLogIsCutIsNotStarted) {
  Commit();
  Lose(Epoch{1});
  SettleUntilLog();
  Cancel(job_);
  Settle();
  EXPECT_EQ(Starts(host_) + Starts(partner_), 1u);
  EXPECT_EQ(Ends(host_) + Ends(partner_), 1u);  // Of the first epoch: nobody knows of the second.
  EXPECT_EQ(Show(job_).state(), proto::CANCELLED);
}

TEST_F(ClusterRecoveryTest, ALostJobIsCountedByTheKindOfItsLoss) {
  Lose(Epoch{1});
  EXPECT_EQ(cluster_->Figures().checkpoints.recoveries.at("process"), 1u);
  EXPECT_EQ(cluster_->Figures().checkpoints.recoveries.at("worker"), 0u);
}

TEST_F(ClusterRecoveryTest, AnEndedJobLeavesNoImages) {
  Commit();
  Cancel(job_);
  Settle();
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  for (const FakeWorker* worker : {&host_, &partner_}) {
    const auto keeps = OrdersOf(*worker, &proto::Order::has_keep_checkpoints);
    ASSERT_FALSE(keeps.empty()) << worker->name;
    EXPECT_EQ(keeps.back().keep_checkpoints().checkpoints_size(), 0) << worker->name;
  }
  EXPECT_EQ(world_.journal.catalogues.at(job_), "");
}

// ---- Suspending ---------------------------------------------------------------------------------

TEST_F(ClusterRecoveryTest, ASuspendedJobLeavesItsNodesAfterTheCommit) {
  const Answer answer = NewAnswer();
  cluster_->Suspend(job_, Into(answer));
  SaveAndCopy();
  EXPECT_TRUE(OrdersOf(host_, &proto::Order::has_take_checkpoint).back().take_checkpoint().hold());
  EXPECT_EQ(Ends(host_), 0u);
  Settle();
  EXPECT_EQ(Ends(host_), 1u);
  EXPECT_FALSE(answer->has_value());
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  ASSERT_TRUE(answer->has_value() && (*answer)->ok());
  EXPECT_EQ((**answer)->state(), proto::SUSPENDED);
  const Answer resumed = NewAnswer();
  cluster_->Resume(job_, Into(resumed));
  Settle();
  EXPECT_TRUE(resumed->has_value() && (*resumed)->ok());
  EXPECT_EQ(Starts(host_) + Starts(partner_), 2u);
}

TEST_F(ClusterRecoveryTest, AJobThatCannotBeSavedIsNotSuspended) {
  const Answer answer = NewAnswer();
  cluster_->Suspend(job_, Into(answer));
  Progress(Epoch{1}, 1);
  proto::WorkerEvent event = EventOf(job_, Epoch{1});
  event.mutable_checkpoint_failed()->set_checkpoint(Asked());
  event.mutable_checkpoint_failed()->set_reason("pid 1: descriptor 5 is a socket");
  EXPECT_EQ(Report(host_, event), absl::OkStatus());
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE(absl::IsAborted((*answer)->status()));
  EXPECT_EQ(OrdersOf(host_, &proto::Order::has_release_held).size(), 1u);
  EXPECT_EQ(Show(job_).state(), proto::RUNNING);
}

TEST_F(ClusterRecoveryTest, WhoNamedAPolicyHearsOnceThatTheJobCannotBeSaved) {
  proto::WorkerEvent event = EventOf(job_, Epoch{1});
  event.mutable_checkpoint_failed()->set_reason("pid 1: descriptor 5 is a socket");
  for (const std::uint64_t superstep : {1, 2}) {
    cluster_->Checkpoint(job_, Into(NewAnswer()));
    Progress(Epoch{1}, superstep);
    event.mutable_checkpoint_failed()->set_checkpoint(Asked());
    EXPECT_EQ(Report(host_, event), absl::OkStatus());
    EXPECT_EQ(Show(job_).checkpoints().given_up(), superstep);
    EXPECT_EQ(world_.logs.launcher_lines,
              std::vector<std::string>{"the job could not be saved, and goes on: node w1: "
                                       "pid 1: descriptor 5 is a socket\n"});
  }
}

TEST_F(ClusterRecoveryTest, AJobLeavesANodeThatWasDrainedBeforeItStartedThere) {
  Lose(Epoch{1});
  world_.timers.RunPosted();
  ASSERT_EQ(Show(job_).placement(0).node(), "w1");
  cluster_->SetDrained("w1", Drain::kDrain, [](const auto&) {});
  Settle();
  ASSERT_EQ(Starts(host_), 2u);
  ReportBegun(host_, job_, Epoch{2}, {0, 1});
  Progress(Epoch{2}, 1);
  ASSERT_NE(Asked(), 0u);
  EXPECT_TRUE(OrdersOf(host_, &proto::Order::has_take_checkpoint).back().take_checkpoint().hold());
}

// ---- A coordinator that comes back --------------------------------------------------------------

TEST_F(ClusterRecoveryTest, AJobWhoseHostsComeBackGoesOn) {
  Restart();
  proto::RegisterRequest again = Registration("w1", 2);
  again.set_previous_worker(Value(host_.id));
  proto::HeldJob& held = *again.add_held();
  held.set_job(Value(job_));
  held.set_epoch(1);
  held.set_participants(kNprocs);
  held.add_begun(0);
  held.add_begun(1);
  const auto reply = cluster_->Register(again);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(WorkerId{reply->worker()}, host_.id);
  EXPECT_EQ(reply->keep_jobs_size(), 1);
  Settle();
  EXPECT_EQ(Show(job_).state(), proto::RUNNING);
  EXPECT_EQ(Show(job_).epoch(), 1u);
}

TEST_F(ClusterRecoveryTest, AHostThatReturnsWithoutTheJobHasLostIt) {
  Restart();
  proto::RegisterRequest again = Registration("w1", 2);
  again.set_previous_worker(Value(host_.id));
  const auto reply = cluster_->Register(again);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->keep_jobs_size(), 0);
  ASSERT_EQ(Show(job_).losses_size(), 1);
  Join(again);  // Until then its streams do not stand.
  Settle();
  EXPECT_EQ(Show(job_).epoch(), 2u);
}

TEST_F(ClusterRecoveryTest, AHostWhoseJobsAreGoneWhenItRegistersAgainHasLostThem) {
  Restart();
  proto::RegisterRequest again = Registration("w1", 2);
  again.set_previous_worker(Value(host_.id));
  proto::HeldJob& held = *again.add_held();
  held.set_job(Value(job_));
  held.set_epoch(1);
  ASSERT_EQ(cluster_->Register(again)->keep_jobs_size(), 1);  // This reply is lost,
  ASSERT_EQ(cluster_->Register(again)->keep_jobs_size(), 1);  // and given again.
  again.clear_held();
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(again).status()));  // Its lease may hold.
  world_.timers.Advance(1300);
  const auto reply = cluster_->Register(again);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->keep_jobs_size(), 0);
  EXPECT_EQ(Show(job_).losses_size(), 1);
}

TEST_F(ClusterRecoveryTest, AJobWhoseHostsStayAwayRecoversAfterTenSeconds) {
  Restart();
  world_.timers.Advance(9'000);
  EXPECT_EQ(Show(job_).state(), proto::RUNNING);
  world_.timers.Advance(2'000);
  EXPECT_EQ(Show(job_).state(), proto::RECOVERING);
}

TEST_F(ClusterRecoveryTest, ACommittedCheckpointOutlivesTheCoordinator) {
  const std::uint64_t number = Commit();
  Restart();
  EXPECT_EQ(Show(job_).checkpoints().committed(), number);
}

}  // namespace
}  // namespace bspnow::coordinator
