// What metrics count of jobs: what was done, however often a job goes back, and for a while after
// its end.
#include "coordinator/core/cluster_figures.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kMsPerMinute = 60'000;

class ClusterFiguresTest : public ClusterFixture {
 protected:
  void SetUp() override {
    ClusterFixture::SetUp();
    host_ = Join("w1", 2);
    job_ = Run(host_);
  }

  /// Goes back to the start: the job has no checkpoint.
  void Lose(Epoch epoch) {
    ReportExited(host_, job_, epoch, 1, SIGKILL);
    Settle();
    ReportCleared(host_, job_, epoch);
    Settle();
    ReportBegun(host_, job_, Epoch{Value(epoch) + 1}, {0, 1});
    Settle();
  }
  /// Of the host, which holds its lease.
  void Pass(std::uint64_t seconds) {
    for (std::uint64_t i = 0; i < 2 * seconds; ++i) {
      Renew(host_);
      world_.timers.Advance(500);
    }
  }
  void End(Epoch epoch) {
    for (const std::uint32_t pid : {0u, 1u}) ReportExited(host_, job_, epoch, pid, 0);
    Settle();
    ReportCleared(host_, job_, epoch);
    Settle();
  }
  const JobFigures* Find(JobId job) {
    figures_ = cluster_->Figures();
    for (const JobFigures& each : figures_.of_jobs)
      if (each.shown.job() == Value(job)) return &each;
    return nullptr;
  }
  std::uint64_t Counted() {
    const JobFigures* const job = Find(job_);
    return job == nullptr ? 0 : job->counters.sums.supersteps();
  }

  FakeWorker host_;
  JobId job_{};
  ClusterFigures figures_;
};

TEST_F(ClusterFiguresTest, CountersDoNotGoBackWithTheJob) {
  ReportProgress(host_, job_, Epoch{1}, 7);
  EXPECT_EQ(Counted(), 7u);
  Lose(Epoch{1});
  EXPECT_EQ(Show(job_).totals().supersteps(), 0u);
  EXPECT_EQ(Counted(), 7u);
  ReportProgress(host_, job_, Epoch{2}, 3);
  EXPECT_EQ(Show(job_).totals().supersteps(), 3u);
  EXPECT_EQ(Counted(), 10u);
  const JobFigures* const job = Find(job_);
  EXPECT_EQ(job->counters.recoveries, 1u);
  std::uint64_t recorded = 0;
  for (const std::uint64_t n : job->counters.superstep_ns->Look().counts) recorded += n;
  EXPECT_EQ(recorded, 10u);
}

TEST_F(ClusterFiguresTest, AStartThatFailsBelongsToTheLossBeforeIt) {
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  Settle();
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  proto::WorkerEvent event = EventOf(job_, Epoch{2});
  event.mutable_not_started()->set_reason("no space");
  EXPECT_EQ(Report(host_, event), absl::OkStatus());
  ASSERT_EQ(Show(job_).state(), proto::RECOVERING);
  EXPECT_EQ(Find(job_)->counters.recoveries, 1u);
  EXPECT_EQ(figures_.checkpoints.recoveries.at("process"), 1u);
}

TEST_F(ClusterFiguresTest, AnEndedJobIsShownForFiveMinutes) {
  ReportProgress(host_, job_, Epoch{1}, 7);
  End(Epoch{1});
  ASSERT_EQ(Show(job_).state(), proto::SUCCEEDED);
  world_.timers.Advance(5 * kMsPerMinute);
  EXPECT_EQ(Counted(), 7u);
  EXPECT_EQ(Find(job_)->unsaved_ns, std::nullopt);
  EXPECT_EQ(figures_.queue.ended.at("succeeded"), 1u);
  world_.timers.Advance(1);
  EXPECT_EQ(Find(job_), nullptr);
  EXPECT_EQ(figures_.queue.ended.at("succeeded"), 1u);
}

TEST_F(ClusterFiguresTest, OfEndedJobsOnlyTheNewestAreShown) {
  proto::SubmitJobRequest request = Request("");
  const JobId first = job_;
  End(Epoch{1});
  for (std::size_t i = 0; i < kEndedShownMax; ++i) {
    request.set_submission_key(std::to_string(i));
    job_ = Submit(request);
    ReportBegun(host_, job_, Epoch{1}, {0, 1});
    End(Epoch{1});
  }
  EXPECT_EQ(Find(first), nullptr);
  EXPECT_EQ(figures_.of_jobs.size(), kEndedShownMax);
}

TEST_F(ClusterFiguresTest, AJobThatHasNotRunIsOnlyCounted) {
  const JobId waiting = Submit(Request("second"));
  world_.timers.Advance(3000);
  EXPECT_EQ(Find(waiting), nullptr);
  EXPECT_EQ(figures_.jobs.at("waiting"), 1u);
  EXPECT_GE(figures_.oldest_wait_ns, 3'000'000'000u);
  Cancel(waiting);
  Settle();
  EXPECT_EQ(Find(waiting), nullptr);
  EXPECT_EQ(figures_.queue.ended.at("cancelled"), 1u);
  EXPECT_EQ(figures_.oldest_wait_ns, 0u);
}

TEST_F(ClusterFiguresTest, WaitingInTheQueueEndsWithTheFirstStart) {
  const JobId waiting = Submit(Request("second"));
  world_.timers.Advance(3000);
  End(Epoch{1});
  EXPECT_EQ(Starts(host_), 2u);
  EXPECT_EQ(cluster_->Figures().queue.wait_ns->Look().sum, 3'000'000'000u);
  job_ = waiting;
  ReportBegun(host_, job_, Epoch{1}, {0, 1});
  Lose(Epoch{1});
  EXPECT_EQ(Starts(host_), 3u);
  EXPECT_EQ(cluster_->Figures().queue.wait_ns->Look().sum, 3'000'000'000u);
}

TEST_F(ClusterFiguresTest, WhatALossWouldTakeGrowsUntilACommit) {
  world_.timers.Advance(2000);
  EXPECT_EQ(Find(job_)->unsaved_ns, 2'000'000'000u);
  const FakeWorker partner = Join("w2", 2);
  Settle();
  ReportProgress(host_, job_, Epoch{1}, 1);
  const auto orders = OrdersOf(host_, &proto::Order::has_take_checkpoint);
  ASSERT_FALSE(orders.empty());
  const std::uint64_t number = orders.back().take_checkpoint().checkpoint();
  ReportStored(host_, job_, Epoch{1}, number, {0, 1});
  ReportCopied(host_, job_, number, "w2");
  Settle();
  world_.timers.Advance(5);
  EXPECT_EQ(Find(job_)->unsaved_ns, 5'000'000u);
  EXPECT_EQ(Find(job_)->shown.checkpoints().committed(), number);
}

TEST_F(ClusterFiguresTest, ALossTakesNothingOfEarlierEpochs) {
  Pass(5);
  Lose(Epoch{1});
  EXPECT_EQ(Find(job_)->unsaved_ns, 0u);
  Pass(1);
  EXPECT_EQ(Find(job_)->unsaved_ns, 1'000'000'000u);
  EXPECT_EQ(Show(job_).run_ms(), 6000u);
}

// Nor of the time that a job lay suspended, or waited for a place.
TEST_F(ClusterFiguresTest, WhatALossWouldTakeBeginsAnewWithTheEpoch) {
  FakeWorker partner = Join("w2", 2);
  Settle();
  ReportProgress(host_, job_, Epoch{1}, 1);
  const auto orders = OrdersOf(host_, &proto::Order::has_take_checkpoint);
  ASSERT_FALSE(orders.empty());
  const std::uint64_t number = orders.back().take_checkpoint().checkpoint();
  ReportStored(host_, job_, Epoch{1}, number, {0, 1});
  ReportCopied(host_, job_, number, "w2");
  Settle();
  ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
  Settle();
  Renew(partner);
  Pass(3);
  ReportCleared(host_, job_, Epoch{1});
  Settle();
  proto::WorkerEvent event = EventOf(job_, Epoch{2});
  event.mutable_resumed();
  EXPECT_EQ(Report(Starts(host_) == 2 ? host_ : partner, event), absl::OkStatus());
  Settle();
  ASSERT_TRUE(cluster_->table().Runs(job_, Epoch{2}));
  EXPECT_EQ(Find(job_)->unsaved_ns, 0u);
}

TEST_F(ClusterFiguresTest, WhereAllComputeNobodyIsLate) {
  proto::WorkerEvent event = EventOf(job_, Epoch{1});
  proto::BarrierWait& wait = *event.mutable_barrier_wait();
  wait.set_late_count(2);
  wait.add_late()->set_pid(0);
  wait.add_late()->set_pid(1);
  for (proto::LateProcess& late : *wait.mutable_late()) late.set_lateness(proto::LATE_COMPUTING);
  const auto late = [&] {
    EXPECT_EQ(Report(host_, event), absl::OkStatus());
    return Find(job_)->shown.barrier_waits(0).late();
  };
  EXPECT_EQ(late().size(), 0);
  EXPECT_EQ(Show(job_).barrier_waits(0).late_size(), 2);  // For who asks for all.
  wait.mutable_late(1)->set_lateness(proto::LATE_STOPPED);
  ASSERT_EQ(late().size(), 1);
  EXPECT_EQ(late()[0].pid(), 1u);
  wait.mutable_late()->RemoveLast();
  wait.set_late_count(1);
  wait.set_arrived(1);
  EXPECT_EQ(late().size(), 1);
}

TEST_F(ClusterFiguresTest, StragglersAreShownWithTheirNodes) {
  ProgressBody body{};
  body.processes = kNprocs;
  body.totals.supersteps = 1;
  body.totals.stragglers[0] = {.pid = 1, .inherited = 0, .supersteps = 1, .cost_ns = 7};
  FrameHeader header = HeaderOf(FrameKind::kProgress);
  header.source_worker = Value(host_.id);
  header.job = Value(job_);
  header.epoch = 1;
  EXPECT_EQ(cluster_->barriers().OnFrame(header, BytesOf(body)), FrameFault::kNone);
  ASSERT_EQ(Find(job_)->shown.totals().stragglers_size(), 1);
  EXPECT_EQ(Find(job_)->shown.totals().stragglers(0).node(), "w1");
}

TEST_F(ClusterFiguresTest, ALostNodeIsShownAsDown) {
  ASSERT_EQ(cluster_->Figures().nodes.size(), 1u);
  EXPECT_TRUE(cluster_->Figures().nodes[0].up);
  cluster_->barriers().OnDisconnected(host_.id);
  world_.timers.Advance(60'000);
  Settle();
  ASSERT_EQ(cluster_->Figures().nodes.size(), 1u);
  EXPECT_EQ(cluster_->Figures().nodes[0].name, "w1");
  EXPECT_FALSE(cluster_->Figures().nodes[0].up);
}

}  // namespace
}  // namespace bspnow::coordinator
