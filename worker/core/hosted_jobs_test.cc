// When a worker asks for its lease, on a node that is made up.
#include "worker/core/hosted_jobs.h"

#include <gtest/gtest.h>

#include "base/units.h"
#include "worker/core/testing/fake_node.h"

namespace bspnow::worker {
namespace {

constexpr std::uint32_t kSelf = 3;
constexpr std::uint64_t kLeaseMs = 1000;
constexpr std::uint64_t kHeartbeatMs = 250;
constexpr std::uint64_t kIdleHeartbeatMs = 2000;
constexpr std::uint64_t kOrphanTimeoutNs = 5000;
constexpr std::uint64_t kNightNs = 8 * 3600 * kNsPerS;
constexpr std::uint64_t kJob = 5;

class HostedJobsTest : public testing::Test {
 protected:
  HostedJobsTest() {
    proto::RegisterReply reply;
    reply.set_worker(kSelf);
    reply.set_lease_ms(kLeaseMs);
    reply.set_heartbeat_ms(kHeartbeatMs);
    reply.set_idle_heartbeat_ms(kIdleHeartbeatMs);
    jobs_.OnRegistered(reply);
  }

  void Start(std::uint64_t job = kJob, std::uint64_t epoch = 1) {
    proto::Order order;
    proto::StartJob& start = *order.mutable_start();
    start.set_job(job);
    start.set_epoch(epoch);
    start.mutable_spec()->set_nprocs(1);
    start.add_hosts()->set_worker(kSelf);
    start.mutable_hosts(0)->add_pids(0);
    jobs_.OnOrder(order);
    node_.Work();
  }
  void End() {
    proto::Order order;
    order.mutable_end()->set_job(kJob);
    order.mutable_end()->set_epoch(1);
    jobs_.OnOrder(order);
  }

  FakeNode node_;
  HostedJobs jobs_{node_, node_, kOrphanTimeoutNs, [](const proto::WorkerEvent&) {}};
};

// Anybody could prove that.
TEST_F(HostedJobsTest, AJobOfSeveralNodesWithoutAKeyMakesNoSense) {
  proto::Order order;
  proto::StartJob& start = *order.mutable_start();
  start.set_job(kJob);
  start.set_epoch(1);
  start.mutable_spec()->set_nprocs(2);
  for (const std::uint32_t node : {0, 1}) {
    start.add_hosts()->set_worker(kSelf + node);
    start.mutable_hosts(static_cast<int>(node))->add_pids(node);
  }
  for (const std::size_t bytes : {0, 31, 32}) {
    EXPECT_EQ(jobs_.jobs(), 0u);
    start.set_key(std::string(bytes, 'j'));
    jobs_.OnOrder(order);
  }
  EXPECT_EQ(jobs_.jobs(), 1u);
}

TEST_F(HostedJobsTest, ANodeRenewsItsLeaseAtOnceWhenAJobComesAndSeldomWithoutAny) {
  EXPECT_EQ(jobs_.heartbeat_ms(), kIdleHeartbeatMs);
  Start();
  EXPECT_EQ(node_.heartbeat_ms, kHeartbeatMs);
  EXPECT_EQ(jobs_.heartbeat_ms(), kHeartbeatMs);  // Should it register again.
  End();
  node_.job(kJob).OnHostGone(0);
  EXPECT_EQ(node_.heartbeat_ms, kHeartbeatMs) << "it is not cleared yet";
  node_.Work();
  EXPECT_EQ(node_.heartbeat_ms, kIdleHeartbeatMs);
}

// It is what monitoring asks for; a lease that nobody needs may be over.
TEST_F(HostedJobsTest, ANodeWithoutJobsHearsItsCoordinatorThoughItsLeaseIsOver) {
  jobs_.OnLeaseRenewed(0);
  EXPECT_FALSE(jobs_.LeaseValid((kIdleHeartbeatMs + 1) * kNsPerMs));
  EXPECT_TRUE(jobs_.HearsCoordinator((kIdleHeartbeatMs + 1) * kNsPerMs));
  EXPECT_FALSE(jobs_.HearsCoordinator((kIdleHeartbeatMs + kLeaseMs) * kNsPerMs));
  Start();
  EXPECT_FALSE(jobs_.HearsCoordinator(kLeaseMs * kNsPerMs));
}

// Its lease was over then, and the first job must not suffer from that.
TEST_F(HostedJobsTest, IsNoOrphanForTheTimeBeforeItCame) {
  constexpr std::uint64_t kLaterNs = 100 * kOrphanTimeoutNs;
  jobs_.OnLeaseRenewed(1000);
  jobs_.EndOrphans(kLaterNs);
  Start();
  jobs_.EndOrphans(kLaterNs + kOrphanTimeoutNs);
  EXPECT_FALSE(node_.job(kJob).ending());
  jobs_.EndOrphans(kLaterNs + kOrphanTimeoutNs + 1);
  EXPECT_TRUE(node_.job(kJob).ending());
}

// A laptop on which everything runs, or a cluster that is suspended over night.
TEST_F(HostedJobsTest, IsNoOrphanForTheTimeInWhichItWasStopped) {
  jobs_.OnLeaseRenewed(1000);
  Start();
  jobs_.EndOrphans(2000);
  jobs_.EndOrphans(2000 + kNightNs);
  EXPECT_FALSE(node_.job(kJob).ending());
  jobs_.EndOrphans(1000 + kNightNs + kOrphanTimeoutNs);
  EXPECT_FALSE(node_.job(kJob).ending());
  jobs_.EndOrphans(1000 + kNightNs + kOrphanTimeoutNs + 1);
  EXPECT_TRUE(node_.job(kJob).ending());
}

// The answer lay in the socket meanwhile, and is read after the clock.
TEST_F(HostedJobsTest, AnAnswerToWhatItAskedBeforeItWasStoppedDoesNotMakeItAnOrphan) {
  jobs_.OnLeaseRenewed(1000);
  Start();
  jobs_.EndOrphans(2000);
  jobs_.EndOrphans(2000 + kNightNs);
  jobs_.OnLeaseRenewed(1500);
  jobs_.EndOrphans(1500 + kNightNs + kOrphanTimeoutNs);
  EXPECT_FALSE(node_.job(kJob).ending());
  jobs_.EndOrphans(1500 + kNightNs + kOrphanTimeoutNs + 1);
  EXPECT_TRUE(node_.job(kJob).ending());
}

// A coordinator that comes back is to know whether an epoch that nobody holds has run.
TEST_F(HostedJobsTest, TellsOfEachJobTheNewestEpochThatWasStarted) {
  Start(kJob, 1);
  End();
  node_.job(kJob).OnHostGone(0);
  node_.Work();
  Start(kJob, 3);
  proto::RegisterRequest request;
  EXPECT_EQ(jobs_.Describe(request), absl::OkStatus());
  ASSERT_EQ(request.started_size(), 1);
  EXPECT_EQ(request.started(0).job(), kJob);
  EXPECT_EQ(request.started(0).epoch(), 3u);
  EXPECT_TRUE(request.has_started_lacks());
  EXPECT_EQ(request.started_lacks(), 0u);
}

// What has not begun is not lost where a coordinator comes back.
TEST_F(HostedJobsTest, TellsOfWhichJobsNoProcessWasStarted) {
  const auto never_began = [this](std::uint64_t job) {
    proto::RegisterRequest request;
    EXPECT_EQ(jobs_.Describe(request), absl::OkStatus());
    for (const proto::HeldJob& held : request.held())
      if (held.job() == job) return held.never_began();
    ADD_FAILURE() << "job " << job << " is not held";
    return false;
  };
  Start(1);
  node_.started = absl::ResourceExhaustedError("no memory");
  Start(2);
  EXPECT_FALSE(never_began(1));
  EXPECT_TRUE(never_began(2));
  proto::WorkerEvent not_started;  // The host's word: no such program.
  not_started.mutable_not_started()->set_reason("not found");
  node_.job(1).OnHostEvent(not_started);
  EXPECT_TRUE(never_began(1));
}

TEST(StartedEpochsTest, SaysOfWhichJobsItMayLackSome) {
  StartedEpochs started;
  started.OnStart(JobId{9000}, Epoch{1});
  for (std::uint64_t job = 1; job < StartedEpochs::kJobsMax; ++job)
    started.OnStart(JobId{job}, Epoch{1});
  started.OnStart(JobId{9000}, Epoch{2});  // It was the oldest.
  proto::RegisterRequest all;
  started.Describe(all);
  EXPECT_EQ(all.started_size(), static_cast<int>(StartedEpochs::kJobsMax));
  EXPECT_EQ(all.started_lacks(), 0u);
  started.OnStart(JobId{9001}, Epoch{1});
  proto::RegisterRequest newest;
  started.Describe(newest);
  EXPECT_EQ(newest.started_size(), static_cast<int>(StartedEpochs::kJobsMax));
  EXPECT_EQ(newest.started(0).job(), 2u);
  EXPECT_EQ(newest.started_lacks(), 1u);
}

}  // namespace
}  // namespace bspnow::worker
