// A coordinator that was stopped, or whose machine was suspended: nobody could be heard meanwhile,
// so nobody is blamed for that time.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kStartMs = kStartNs / kNsPerMs;
constexpr std::uint64_t kClearMs = kClearNs / kNsPerMs;

class FakeClient final : public AttachedClient {
 public:
  ClientIdentity identity() const override { return {.user = "anna", .address = "far:1"}; }
  void InputTaken(std::uint64_t) override {}
  void Replaced() override {}
};

class ClusterPauseTest : public ClusterFixture {
 protected:
  /// These workers are heard of all the time.
  void Pass(std::uint64_t ms, const std::vector<FakeWorker*>& alive) {
    for (std::uint64_t at = 0; at < ms; at += 500) {
      for (const FakeWorker* worker : alive) Renew(*worker);
      world_.timers.Advance(500);
    }
    Settle();
  }

  void Pause(std::uint64_t ms) {
    world_.timers.Pause(ms);
    Settle();
  }

  void Disconnect(const FakeWorker& worker) { cluster_->barriers().OnDisconnected(worker.id); }

  bool Told(const std::string& text) const {
    const auto& lines = world_.logs.launcher_lines;
    return std::any_of(lines.begin(), lines.end(), [&text](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }
};

TEST_F(ClusterPauseTest, ANodeIsNotBlamedForAStartThatNobodyCouldHearOf) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Submit(Request("key"));
  Pass(kStartMs - 10'000, {&worker});
  Pause(60'000);
  EXPECT_EQ(Show(job).state(), proto::RUNNING) << Show(job).reason();
  Pass(9'000, {&worker});
  EXPECT_EQ(Show(job).state(), proto::RUNNING) << Show(job).reason();
  Pass(2'000, {&worker});
  EXPECT_EQ(Show(job).state(), proto::RECOVERING) << "its time has an end";
}

TEST_F(ClusterPauseTest, WhatWasOrderedAfterAPauseHasNoMoreTimeThanUsual) {
  FakeWorker worker = Join("w1", 2);
  world_.timers.Sleep(10 * kStartMs);
  Renew(worker);
  const JobId job = Submit(Request("key"));
  Pass(kStartMs + 1'000, {&worker});
  EXPECT_EQ(Show(job).state(), proto::RECOVERING);
}

TEST_F(ClusterPauseTest, ANodeIsNotGivenUpForAnEndThatNobodyCouldHearOf) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportExited(worker, job, Epoch{1}, 1, SIGKILL);
  Settle();
  Pass(kClearMs - 10'000, {&worker});
  Pause(60'000);
  EXPECT_FALSE(Told("is given up"));
  ReportCleared(worker, job, Epoch{1});
  Settle();
  EXPECT_EQ(Starts(worker), 2u);
}

TEST_F(ClusterPauseTest, AJobWaitsOnForThoseThatHoldItsCheckpoint) {
  FakeWorker host = Join("w1", 2);
  const JobId job = Run(host);
  FakeWorker partner = Join("w2", 2);
  Settle();
  ReportProgress(host, job, Epoch{1}, 1);
  const std::uint64_t number = Show(job).checkpoints().under_way();
  ReportStored(host, job, Epoch{1}, number, {0, 1});
  ReportCopied(host, job, number, "w2");
  Settle();
  ASSERT_EQ(Show(job).checkpoints().committed(), number);
  FakeWorker other = Join("w3", 2);
  Disconnect(host);
  Disconnect(partner);
  Pass(5'000, {&other});
  ASSERT_TRUE(Told("waits for a node that holds its last checkpoint"));
  Pause(60'000);
  EXPECT_FALSE(Told("has come back"));
  EXPECT_EQ(Starts(other), 0u);
  proto::RegisterRequest returned = Registration("w1", 2);
  returned.add_stored()->set_job(Value(job));
  returned.mutable_stored(0)->add_checkpoints(number);
  host = Join(returned);
  Settle();
  const auto starts = OrdersOf(other, &proto::Order::has_start);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].start().resume().checkpoint(), number);
}

TEST_F(ClusterPauseTest, AJobWaitsOnForItsClient) {
  FakeWorker worker = Join("w1", 2);
  proto::SubmitJobRequest request = Request("key");
  request.mutable_spec()->set_attached(true);
  request.mutable_spec()->set_reconnect_ms(60'000);
  const JobId job = Submit(request);
  const auto client = std::make_shared<FakeClient>();
  EXPECT_EQ(cluster_->Attach(job, "key", client), absl::OkStatus());
  ReportBegun(worker, job, Epoch{1}, {0, 1});
  cluster_->OnClientLost(job, client.get());
  Pause(120'000);
  EXPECT_EQ(Show(job).state(), proto::RUNNING) << Show(job).reason();
  Pass(30'000, {&worker});
  EXPECT_EQ(cluster_->Attach(job, "key", std::make_shared<FakeClient>()), absl::OkStatus());
  Pass(60'000, {&worker});
  EXPECT_EQ(Show(job).state(), proto::RUNNING) << Show(job).reason();
}

// What came meanwhile is heard before any timer is.
TEST_F(ClusterPauseTest, ItDoesSoThoughTheFirstThingHeardIsTheEndOfAnothersConnection) {
  FakeWorker worker = Join("w1", 4);
  std::vector<JobId> jobs;
  std::vector<std::shared_ptr<FakeClient>> clients;
  for (const std::string key : {"one", "other"}) {
    proto::SubmitJobRequest request = Request(key);
    request.mutable_spec()->set_attached(true);
    request.mutable_spec()->set_reconnect_ms(60'000);
    jobs.push_back(Submit(request));
    clients.push_back(std::make_shared<FakeClient>());
    EXPECT_EQ(cluster_->Attach(jobs.back(), key, clients.back()), absl::OkStatus());
  }
  cluster_->OnClientLost(jobs[0], clients[0].get());
  world_.timers.Sleep(120'000);
  cluster_->OnClientLost(jobs[1], clients[1].get());
  Settle();
  for (const JobId job : jobs) EXPECT_FALSE(Show(job).state() == proto::CANCELLED);
}

// It lay in a socket since before the reply to the one that was repeated; the node is well.
TEST_F(ClusterPauseTest, ALateRegistrationThatIsHeardBeforeItsHeartbeatsLosesNoNode) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  world_.timers.Sleep(60'000);
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(Registration("w1", 2)).status()));
  Renew(worker);
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RUNNING) << Show(job).reason();
  EXPECT_EQ(Show(job).losses_size(), 0);
}

}  // namespace
}  // namespace bspnow::coordinator
