// What a job's supersteps cost: each counts once, whoever comes back, and wherever the job goes
// back to.
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

// One node more than may release themselves, with a process on each.
class ManyHostsTest : public ClusterFixture {
 protected:
  static constexpr auto kHosts = static_cast<std::uint32_t>(kDirectHostsMax + 1);

  void Run() {
    proto::SubmitJobRequest request = Request("key");
    request.mutable_spec()->mutable_checkpoints()->set_every_supersteps(3);
    request.mutable_spec()->set_nprocs(kHosts);
    for (std::uint32_t i = 0; i < kHosts; ++i) hosts_.push_back(Join(absl::StrCat("w", i), 1));
    job_ = Submit(request);
    for (FakeWorker& host : hosts_) ReportBegun(host, job_, Epoch{1}, {PidOf(host)});
    Settle();
    BeginAt(hosts_);
  }
  void ComeBack() {
    Restart();
    std::vector<FakeWorker> back;
    for (const FakeWorker& host : hosts_) back.push_back(Join(Returning(host, PidOf(host))));
    hosts_ = std::move(back);
    Settle();
    BeginAt(hosts_);
  }
  std::uint32_t PidOf(const FakeWorker& worker) {
    const proto::Job job = Show(job_);
    for (const proto::Placement& place : job.placement())
      if (place.node() == worker.name) return place.pids(0);
    return kHosts;
  }
  void BeginAt(const std::vector<FakeWorker>& hosts) {
    for (const FakeWorker& host : hosts)
      if (PidOf(host) == 0)
        Send(host, FrameKind::kBegin, 0, BeginBody{.nprocs = kHosts, .reserved = 0});
  }
  /// At the barrier that ends superstep `barrier` - 1, with what the one before took.
  void Arrive(const FakeWorker& host, std::uint64_t barrier) {
    ArriveBody body{};
    body.barrier = barrier;
    body.processes = 1;
    body.ends_superstep = barrier != 0 ? 1 : 0;
    body.has_sums = barrier >= 2 ? 1 : 0;
    if (barrier >= 2) body.sums.superstep = barrier - 2;
    body.sums.compute_ns = body.sums.w_ns = 100;
    body.sums.processes = 1;
    Send(host, FrameKind::kArrive, barrier == 0 ? 0 : barrier - 1, body);
  }
  template <typename Body>
  void Send(const FakeWorker& from, FrameKind kind, std::uint64_t superstep, const Body& body) {
    FrameHeader header = HeaderOf(kind);
    header.source_worker = Value(from.id);
    header.job = Value(job_);
    header.epoch = 1;
    header.superstep = superstep;
    EXPECT_EQ(cluster_->barriers().OnFrame(header, BytesOf(body)), FrameFault::kNone);
  }

  std::vector<FakeWorker> hosts_;
  JobId job_{};
};

TEST_F(ManyHostsTest, ABarrierThatIsReleasedAgainCountsNoSuperstepTwice) {
  Run();
  for (std::uint64_t barrier = 0; barrier <= 5; ++barrier)
    for (const FakeWorker& host : hosts_) Arrive(host, barrier);
  EXPECT_EQ(Show(job_).totals().supersteps(), 4u);
  EXPECT_EQ(Show(job_).totals().w_ns(), 400u);
  cluster_->Close();
  ComeBack();
  EXPECT_EQ(Show(job_).totals().supersteps(), 4u);
  for (const FakeWorker& host : hosts_) {
    if (PidOf(host) != kHosts - 1) Arrive(host, 6);  // The last one computes.
    Arrive(host, 5);
  }
  EXPECT_EQ(Show(job_).totals().supersteps(), 4u);
  EXPECT_EQ(Show(job_).totals().w_ns(), 400u);
  for (const FakeWorker& host : hosts_)
    if (PidOf(host) == kHosts - 1) Arrive(host, 6);
  EXPECT_EQ(Show(job_).totals().supersteps(), 5u);
  EXPECT_EQ(Show(job_).totals().w_ns(), 500u);
}

TEST_F(ManyHostsTest, WhatNobodyStoredIsCountedThoughNotMeasured) {
  Run();
  for (std::uint64_t barrier = 0; barrier <= 5; ++barrier)
    for (const FakeWorker& host : hosts_) Arrive(host, barrier);
  ComeBack();
  for (const std::uint64_t barrier : {5, 6})
    for (const FakeWorker& host : hosts_) Arrive(host, barrier);
  EXPECT_EQ(Show(job_).totals().supersteps(), 5u);
  EXPECT_EQ(Show(job_).totals().w_ns(), 200u);
  EXPECT_EQ(Show(job_).totals().unmeasured(), 3u);
}

// ---- Going back ---------------------------------------------------------------------------------

/// Two processes on one node, whose images have a copy on another.
class GoingBackTest : public ClusterFixture {
 protected:
  void SetUp() override {
    ClusterFixture::SetUp();
    host_ = Join("w1", 2);
    job_ = Run(host_);
    Join("w2", 2);
    Settle();
  }
  /// In each of these supersteps the slowest process computed for 10 ns.
  void Progress(std::uint64_t supersteps) {
    ProgressBody body{};
    body.totals.supersteps = supersteps;
    body.totals.w_ns = 10 * supersteps;
    body.superstep = supersteps;
    body.processes = kNprocs;
    FrameHeader header = HeaderOf(FrameKind::kProgress);
    header.source_worker = Value(host_.id);
    header.job = Value(job_);
    header.epoch = 1;
    EXPECT_EQ(cluster_->barriers().OnFrame(header, BytesOf(body)), FrameFault::kNone);
  }
  void Commit(std::uint64_t superstep) {
    const auto orders = OrdersOf(host_, &proto::Order::has_take_checkpoint);
    ASSERT_FALSE(orders.empty());
    const std::uint64_t number = orders.back().take_checkpoint().checkpoint();
    ReportStored(host_, job_, Epoch{1}, number, {0, 1}, kNprocs, superstep);
    ReportCopied(host_, job_, number, "w2");
    Settle();
    EXPECT_EQ(Show(job_).checkpoints().committed(), number);
  }
  proto::JobTotals TotalsAfterALoss() {
    ReportExited(host_, job_, Epoch{1}, 1, SIGKILL);
    Settle();
    ReportCleared(host_, job_, Epoch{1});
    Settle();
    EXPECT_EQ(Show(job_).epoch(), 2u);
    return Show(job_).totals();
  }

  FakeWorker host_;
  JobId job_{};
};

TEST_F(GoingBackTest, AJobHasWhatItsSuperstepsCostUntilTheImage) {
  for (const std::uint64_t supersteps : {1, 2, 3, 4}) Progress(supersteps);
  Commit(3);
  const proto::JobTotals totals = TotalsAfterALoss();
  EXPECT_EQ(totals.supersteps(), 3u);
  EXPECT_EQ(totals.w_ns(), 30u);
}

// The superstep after the image is long.
TEST_F(GoingBackTest, WhatTheLastSuperstepCostMayBeKnownAfterTheCommit) {
  Progress(1);
  Commit(3);
  Progress(2);  // The next checkpoint is asked for.
  Progress(3);
  Progress(5);
  EXPECT_EQ(TotalsAfterALoss().w_ns(), 30u);
}

TEST_F(ManyHostsTest, ACheckpointHasWhatAllSuperstepsBeforeItCost) {
  Run();
  for (std::uint64_t barrier = 0; barrier <= 3; ++barrier)
    for (const FakeWorker& host : hosts_) Arrive(host, barrier);
  ReleaseBody release;
  memcpy(&release, world_.frames.sent.back().payload.data(), sizeof release);
  ASSERT_NE(release.checkpoint, 0u);
  for (FakeWorker& host : hosts_)
    ReportStored(host, job_, Epoch{1}, release.checkpoint, {PidOf(host)}, kHosts, 3);
  for (const FakeWorker& host : hosts_) Arrive(host, 4);
  for (FakeWorker& host : hosts_)
    for (const proto::Order& order : OrdersOf(host, &proto::Order::has_copy_checkpoint))
      ReportCopied(host, job_, release.checkpoint, order.copy_checkpoint().to_node());
  Settle();
  EXPECT_EQ(Show(job_).checkpoints().committed(), release.checkpoint);
  for (const FakeWorker& host : hosts_) Arrive(host, 5);
  ReportExited(hosts_[0], job_, Epoch{1}, PidOf(hosts_[0]), SIGKILL);
  Settle();
  for (FakeWorker& host : hosts_) ReportCleared(host, job_, Epoch{1});
  Settle();
  EXPECT_EQ(Show(job_).totals().supersteps(), 3u);
  EXPECT_EQ(Show(job_).totals().w_ns(), 300u);
}

}  // namespace
}  // namespace bspnow::coordinator
