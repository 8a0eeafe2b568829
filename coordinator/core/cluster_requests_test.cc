// Who asks for a checkpoint, or for a job to be suspended, and leaves before that is done.
#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

/// A job that takes a checkpoint only if it is asked to.
class ClusterRequestsTest : public ClusterFixture {
 protected:
  void SetUp() override {
    ClusterFixture::SetUp();
    host_ = Join("w1", 2);
    proto::SubmitJobRequest request = Request("key");
    request.mutable_spec()->clear_checkpoints();
    request.mutable_spec()->mutable_checkpoints()->set_off(true);
    job_ = Submit(request);
    ReportBegun(host_, job_, Epoch{1}, {0, 1});
    Settle();
  }

  std::size_t Asked() const { return OrdersOf(host_, &proto::Order::has_take_checkpoint).size(); }

  /// The one under way is committed, and the job comes to its next superstep.
  void Save(std::uint64_t supersteps) {
    const auto orders = OrdersOf(host_, &proto::Order::has_take_checkpoint);
    ASSERT_FALSE(orders.empty());
    ReportStored(host_, job_, Epoch{1}, orders.back().take_checkpoint().checkpoint(), {0, 1});
    Settle();
    ReportProgress(host_, job_, Epoch{1}, supersteps);
  }

  FakeWorker host_;
  JobId job_{};
};

TEST_F(ClusterRequestsTest, WhatHasNotBegunForACallerWhoLeftIsForgotten) {
  cluster_->Checkpoint(job_, Into(NewAnswer()));
  EXPECT_EQ(Asked(), 1u);
  const Answer checkpoint = NewAnswer();
  const Answer suspend = NewAnswer();
  cluster_->StopWaiting(cluster_->Checkpoint(job_, Into(checkpoint)));
  cluster_->StopWaiting(cluster_->Suspend(job_, Into(suspend)));
  EXPECT_EQ(checkpoint.use_count(), 1);  // Nobody keeps them until the next barrier.
  EXPECT_EQ(suspend.use_count(), 1);
  Save(1);
  EXPECT_EQ(Asked(), 1u);
  EXPECT_EQ(Show(job_).state(), proto::RUNNING);
}

TEST_F(ClusterRequestsTest, ACallerWhoStaysGetsACheckpointThoughAnotherLeft) {
  cluster_->Checkpoint(job_, Into(NewAnswer()));
  const Answer stays = NewAnswer();
  cluster_->Checkpoint(job_, Into(stays));
  cluster_->StopWaiting(cluster_->Checkpoint(job_, Into(NewAnswer())));
  Save(1);
  EXPECT_EQ(Asked(), 2u);
  EXPECT_FALSE(stays->has_value());
  Save(2);
  EXPECT_TRUE(stays->has_value() && (*stays)->ok());
}

TEST_F(ClusterRequestsTest, WhoAsksWhileOneIsTakenIsNextWithoutABarrierBetween) {
  cluster_->Checkpoint(job_, Into(NewAnswer()));
  const Answer suspended = NewAnswer();
  cluster_->Suspend(job_, Into(suspended));
  EXPECT_EQ(Asked(), 1u);
  const auto orders = OrdersOf(host_, &proto::Order::has_take_checkpoint);
  ReportStored(host_, job_, Epoch{1}, orders.back().take_checkpoint().checkpoint(), {0, 1});
  Settle();
  EXPECT_EQ(Asked(), 2u);
}

TEST_F(ClusterRequestsTest, WhatHasBegunGoesOnWithoutItsCaller) {
  const Answer answer = NewAnswer();
  const WaitId caller = cluster_->Suspend(job_, Into(answer));
  EXPECT_EQ(Asked(), 1u);
  cluster_->StopWaiting(caller);
  EXPECT_EQ(answer.use_count(), 1);
  Save(1);
  EXPECT_EQ(Show(job_).state(), proto::SUSPENDED);
  EXPECT_FALSE(answer->has_value());
}

TEST_F(ClusterRequestsTest, ACallerLeavesWhileTheJobLeavesItsNodes) {
  const Answer answer = NewAnswer();
  const WaitId caller = cluster_->Suspend(job_, Into(answer));
  Save(1);
  EXPECT_EQ(Ends(host_), 1u);
  EXPECT_FALSE(answer->has_value());
  cluster_->StopWaiting(caller);
  EXPECT_EQ(answer.use_count(), 1);
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  EXPECT_EQ(Show(job_).state(), proto::SUSPENDED);
}

// It would have to wait for slots, to be put back and to come to a barrier first.
TEST_F(ClusterRequestsTest, AJobThatIsLostBeforeItIsSavedIsSuspendedAsItIs) {
  cluster_->Checkpoint(job_, Into(NewAnswer()));
  const Answer saved = NewAnswer();
  const Answer suspended = NewAnswer();
  cluster_->Checkpoint(job_, Into(saved));
  cluster_->Suspend(job_, Into(suspended));
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  Settle();
  EXPECT_EQ(Show(job_).state(), proto::SUSPENDED);
  EXPECT_FALSE(suspended->has_value());
  EXPECT_TRUE(saved->has_value() && absl::IsFailedPrecondition((*saved)->status()));
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  ASSERT_TRUE(suspended->has_value() && (*suspended)->ok());
  EXPECT_EQ((**suspended)->state(), proto::SUSPENDED);
  EXPECT_EQ(Starts(host_), 1u);
  EXPECT_EQ(Ends(host_), 1u);
  cluster_->Resume(job_, Into(NewAnswer()));
  Settle();
  EXPECT_EQ(Starts(host_), 2u);
}

// It was under way when the job was lost: nothing is better than what it has then.
TEST_F(ClusterRequestsTest, AJobThatIsLostWhileItIsSavedIsSuspendedAsItIs) {
  const Answer suspended = NewAnswer();
  cluster_->Suspend(job_, Into(suspended));
  ASSERT_EQ(Asked(), 1u);
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  Settle();
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  EXPECT_EQ(Show(job_).state(), proto::SUSPENDED);
  EXPECT_TRUE(suspended->has_value() && (*suspended)->ok());
}

TEST_F(ClusterRequestsTest, AJobWhoseNodeIsLostWhileItIsSavedIsSuspendedAsItIs) {
  const Answer suspended = NewAnswer();
  cluster_->Suspend(job_, Into(suspended));
  ASSERT_EQ(Asked(), 1u);
  cluster_->barriers().OnDisconnected(host_.id);
  world_.timers.Advance(20'000);
  Settle();
  EXPECT_EQ(Show(job_).state(), proto::SUSPENDED);
  EXPECT_TRUE(suspended->has_value() && (*suspended)->ok());
}

TEST_F(ClusterRequestsTest, WhoResumesAJobOnceMoreIsToldThatItIs) {
  cluster_->Suspend(job_, Into(NewAnswer()));
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  for (int i = 0; i < 2; ++i) {  // The first answer got lost.
    const Answer resumed = NewAnswer();
    cluster_->Resume(job_, Into(resumed));
    Settle();
    EXPECT_TRUE(resumed->has_value() && (*resumed)->ok());
  }
  EXPECT_EQ(Starts(host_), 2u);
}

// A disk that is full for a weekend fails each commit, and this write as well.
TEST_F(ClusterRequestsTest, AJobIsSavedAgainAfterManyFailuresAndAJournalThatWasFull) {
  const auto ask = [this] {
    const Answer answer = NewAnswer();
    cluster_->Checkpoint(job_, Into(answer));
    return answer;
  };
  for (std::uint64_t i = 1; i <= kAttemptsMax; ++i) {
    ask();
    proto::WorkerEvent event = EventOf(job_, Epoch{1});
    event.mutable_checkpoint_failed()->set_checkpoint(
        OrdersOf(host_, &proto::Order::has_take_checkpoint).back().take_checkpoint().checkpoint());
    EXPECT_EQ(Report(host_, event), absl::OkStatus());
    ReportProgress(host_, job_, Epoch{1}, i);
  }
  Finish(world_.journal.calls, absl::ResourceExhaustedError("disk full"));
  const std::size_t asked = Asked();
  EXPECT_TRUE(absl::IsAborted((**ask()).status()));
  EXPECT_EQ(Waiting(world_.journal.calls), std::vector<std::string>{"checkpoints 1"});
  EXPECT_TRUE(absl::IsAborted((**ask()).status()));
  EXPECT_EQ(world_.journal.calls.size(), 1u) << "it is under way";
  Settle();
  ask();
  EXPECT_EQ(Asked(), asked + 1);
}

// ---- Not before it is durable -------------------------------------------------------------------

TEST_F(ClusterRequestsTest, ACancellationIsAnsweredWhenItIsDurable) {
  const JobId waiting = Submit(Request("second"));
  const Answer answer = Cancel(waiting);
  const Answer again = Cancel(waiting);
  EXPECT_EQ(Show(waiting).state(), proto::CANCELLED);
  EXPECT_FALSE(answer->has_value() || again->has_value());
  Settle();
  ASSERT_TRUE(answer->has_value() && again->has_value());
  EXPECT_EQ((**answer)->state(), proto::CANCELLED);
  const Answer running = Cancel(job_);
  EXPECT_EQ(Show(job_).state(), proto::ENDING);
  EXPECT_FALSE(running->has_value());
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_TRUE(running->has_value() && (*running)->ok());
}

TEST_F(ClusterRequestsTest, AnEndIsAwaitedUntilItIsDurable) {
  const JobId waiting = Submit(Request("second"));
  Cancel(waiting);
  const Answer ended = NewAnswer();
  cluster_->Wait(waiting, Into(ended));
  EXPECT_FALSE(ended->has_value()) << "a restart would let it run";
  Settle();
  ASSERT_TRUE(ended->has_value() && (*ended)->ok());
  EXPECT_EQ((**ended)->state(), proto::CANCELLED);
}

TEST_F(ClusterRequestsTest, ACancellationThatTheJournalHasRefusedIsRefusedAgain) {
  const JobId waiting = Submit(Request("second"));
  const Answer refused = Cancel(waiting);
  Finish(world_.journal.calls, absl::ResourceExhaustedError("disk full"));
  ASSERT_TRUE(refused->has_value());
  EXPECT_TRUE(absl::IsResourceExhausted((*refused)->status()));
  const Answer again = Cancel(waiting);
  ASSERT_TRUE(again->has_value());
  EXPECT_TRUE(absl::IsResourceExhausted((*again)->status()));
  world_.timers.Advance(1000);
  Settle();
  const Answer stored = Cancel(waiting);
  ASSERT_TRUE(stored->has_value());
  EXPECT_TRUE((*stored)->ok()) << (*stored)->status();
}

TEST_F(ClusterRequestsTest, WhatTheJournalRefusesIsDoneButMayBeForgotten) {
  const JobId waiting = Submit(Request("second"));
  const Answer suspended = NewAnswer();
  cluster_->Suspend(waiting, Into(suspended));
  EXPECT_FALSE(suspended->has_value());
  Finish(world_.journal.calls, absl::ResourceExhaustedError("disk full"));
  ASSERT_TRUE(suspended->has_value());
  EXPECT_EQ((*suspended)->status().message(),
            "done, but a restart of the coordinator forgets it until the disk of its journal takes "
            "it: disk full");
  world_.timers.Advance(1000);
  const Answer again = NewAnswer();
  cluster_->Suspend(waiting, Into(again));  // It is written once more.
  EXPECT_FALSE(again->has_value());
  Settle();
  EXPECT_TRUE(again->has_value() && (*again)->ok());
  const Answer resumed = NewAnswer();
  cluster_->Resume(waiting, Into(resumed));
  EXPECT_FALSE(resumed->has_value());
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_TRUE(resumed->has_value() && (*resumed)->ok());
}

TEST_F(ClusterRequestsTest, WhoSuspendsAJobOnceMoreIsNotAnsweredByTheFirstRow) {
  const JobId waiting = Submit(Request("second"));
  cluster_->Suspend(waiting, Into(NewAnswer()));
  cluster_->Resume(waiting, Into(NewAnswer()));
  const Answer again = NewAnswer();
  cluster_->Suspend(waiting, Into(again));
  Finish(world_.journal.calls, absl::OkStatus());
  Finish(world_.journal.calls, absl::OkStatus());  // It is resumed, for all that a restart knows.
  EXPECT_FALSE(again->has_value());
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_TRUE(again->has_value() && (*again)->ok());
}

TEST_F(ClusterRequestsTest, ASubmissionThatIsRefusedLeavesNobodyWaiting) {
  proto::SubmitJobRequest request = Request("array");
  request.mutable_array()->set_last(1);
  request.mutable_array()->set_step(1);
  cluster_->Submit(kAnAdministrator, request, [](const absl::StatusOr<JobId>&) {});
  const JobId element{Value(job_) + 2};
  const Answer cancelled = Cancel(element);
  const Answer ended = NewAnswer();
  cluster_->Wait(JobId{Value(job_) + 1}, Into(ended));
  EXPECT_FALSE(cancelled->has_value() || ended->has_value());
  Finish(world_.journal.calls, absl::ResourceExhaustedError("disk full"));
  ASSERT_TRUE(cancelled->has_value() && ended->has_value());
  EXPECT_TRUE(absl::IsNotFound((*cancelled)->status()));
  EXPECT_TRUE(absl::IsNotFound((*ended)->status()));
}

TEST_F(ClusterRequestsTest, WhatIsCancelledBeforeItIsAcceptedIsStoredAfterwards) {
  cluster_->Submit(kAnAdministrator, Request("second"), [](const absl::StatusOr<JobId>&) {});
  const Answer answer = Cancel(JobId{Value(job_) + 1});
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_FALSE(answer->has_value());
  Finish(world_.journal.calls, absl::OkStatus());
  ASSERT_TRUE(answer->has_value() && (*answer)->ok());
  EXPECT_EQ((**answer)->state(), proto::CANCELLED);
}

TEST_F(ClusterRequestsTest, WhatIsSuspendedBeforeItIsAcceptedIsStoredAfterwards) {
  FakeWorker free = Join("w2", 2);
  cluster_->Submit(kAnAdministrator, Request("second"), [](const absl::StatusOr<JobId>&) {});
  const JobId second{Value(job_) + 1};
  const Answer suspended = NewAnswer();
  cluster_->Suspend(second, Into(suspended));
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_FALSE(suspended->has_value());
  Settle();
  ASSERT_TRUE(suspended->has_value() && (*suspended)->ok());
  EXPECT_EQ((**suspended)->state(), proto::SUSPENDED);
  EXPECT_EQ(Starts(free), 0u);
}

TEST_F(ClusterRequestsTest, WhatIsResumedBeforeItIsAcceptedIsPlacedAfterwards) {
  FakeWorker free = Join("w2", 2);
  Settle();
  cluster_->Submit(kAnAdministrator, Request("second"), [](const absl::StatusOr<JobId>&) {});
  const JobId second{Value(job_) + 1};
  cluster_->Suspend(second, Into(NewAnswer()));
  const Answer resumed = NewAnswer();
  cluster_->Resume(second, Into(resumed));
  world_.timers.RunPosted();
  EXPECT_EQ(Waiting(world_.journal.calls), std::vector<std::string>{"job 2"});
  EXPECT_FALSE(resumed->has_value());
  Settle();
  EXPECT_TRUE(resumed->has_value() && (*resumed)->ok());
  EXPECT_EQ(Starts(free), 1u);
}

// After so many starts in vain a job fails.
TEST_F(ClusterRequestsTest, AJournalThatIsFullCostsAStartNothing) {
  cluster_->Checkpoint(job_, Into(NewAnswer()));
  Save(1);
  const std::uint64_t committed = Show(job_).checkpoints().committed();
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  Settle();
  ReportCleared(host_, job_, Epoch{1});
  for (std::uint32_t i = 0; i <= kStartsMax; ++i) {
    world_.timers.RunPosted();
    while (Waiting(world_.journal.calls) != std::vector<std::string>{"checkpoints 1"}) {
      Finish(world_.journal.calls, absl::OkStatus());
      world_.timers.RunPosted();
    }
    Finish(world_.journal.calls, absl::ResourceExhaustedError("disk full"));
    Renew(host_);
    EXPECT_EQ(Show(job_).reason(),
              "its start waits until the coordinator's disk takes its journal: disk full");
    world_.timers.Advance(1000);
  }
  EXPECT_EQ(Show(job_).epoch(), 2u);
  Settle();
  ASSERT_EQ(Starts(host_), 2u);
  EXPECT_EQ(Show(job_).reason(), "");
  EXPECT_EQ(OrdersOf(host_, &proto::Order::has_start).back().start().resume().checkpoint(),
            committed);
}

// Any submitter may store them, and they are kept for ever.
TEST_F(ClusterRequestsTest, ParametersAreOfAPossibleMachineAndNothingElse) {
  proto::MachineParameters parameters;
  const auto store = [&](std::uint32_t p) {
    parameters.set_p(p);
    absl::Status stored;
    cluster_->StoreParameters(parameters, [&](const absl::Status& status) { stored = status; });
    return stored.code();
  };
  EXPECT_EQ(store(0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store(kProcessesMax + 1), absl::StatusCode::kInvalidArgument);
  constexpr char kUnknownField[] =
      "\xfa\x7d\x03"
      "abc";
  ASSERT_TRUE(parameters.MergeFromString(std::string(kUnknownField, sizeof kUnknownField - 1)));
  const std::size_t sent_bytes = parameters.ByteSizeLong();
  store(8);
  const absl::StatusOr<proto::MachineParameters> shown = cluster_->ShowParameters(8);
  ASSERT_TRUE(shown.ok());
  EXPECT_LT(shown->ByteSizeLong(), sent_bytes);
}

TEST_F(ClusterRequestsTest, AJobHasTheParametersOfItsP) {
  proto::MachineParameters parameters;
  parameters.set_g_shift_ns_per_byte(4);
  const auto store = [&](std::uint32_t p, double g_ns) {
    parameters.set_p(p);
    parameters.set_g_total_ns_per_byte(g_ns);
    parameters.set_l_ns(150'000);
    cluster_->StoreParameters(parameters, [](const absl::Status&) {});
  };
  const auto environment_of = [&](const proto::SubmitJobRequest& request) {
    const proto::Job job = Show(Submit(request));
    const auto& variables = job.spec().environment();
    return std::vector<std::string>(variables.begin(), variables.end());
  };
  using Variables = std::vector<std::string>;
  store(kNprocs + 1, 1);
  EXPECT_EQ(environment_of(Request("before")), Variables());
  store(kNprocs, 8.5);
  EXPECT_EQ(environment_of(Request("after")), Variables({"BSP_MACHINE=g=8.5,l=150000"}));
  proto::SubmitJobRequest own = Request("own");
  own.mutable_spec()->add_environment("BSP_MACHINE=l=1");
  EXPECT_EQ(environment_of(own), Variables({"BSP_MACHINE=l=1"}));
}

}  // namespace
}  // namespace bspnow::coordinator
