// Workers that have been told to end: their jobs move without going back, and what nobody needs of
// them is forgotten.
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

class ClusterLeavingTest : public ClusterFixture {
 protected:
  void Leaves(FakeWorker& worker) {
    proto::WorkerEvent event;
    event.mutable_leaving();
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
    Settle();
  }
  static bool MayLeave(const FakeWorker& worker) {
    return !OrdersOf(worker, &proto::Order::has_leave).empty();
  }
  void GoesAway(const FakeWorker& worker) {
    cluster_->OnStreamBroken(worker.id, worker.sink.get());
    Settle();
  }
  std::vector<std::string> Nodes() {
    std::vector<std::string> names;
    const proto::ListNodesReply reply = cluster_->ListNodes();
    for (const proto::Node& node : reply.nodes()) names.push_back(node.spec().name());
    return names;
  }
  /// The job's processes are saved on `host`, and wait there; copied as far as that was ordered.
  void Save(FakeWorker& host, JobId job) {
    ReportProgress(host, job, Epoch{1}, 1);
    const auto takes = OrdersOf(host, &proto::Order::has_take_checkpoint);
    ASSERT_FALSE(takes.empty());
    EXPECT_TRUE(takes.back().take_checkpoint().hold());
    const std::uint64_t number = takes.back().take_checkpoint().checkpoint();
    ReportStored(host, job, Epoch{1}, number, {0, 1});
    for (const proto::Order& copy : OrdersOf(host, &proto::Order::has_copy_checkpoint))
      ReportCopied(host, job, number, copy.copy_checkpoint().to_node());
    Settle();
  }
};

TEST_F(ClusterLeavingTest, AnIdleWorkerMayLeaveAndIsForgotten) {
  FakeWorker stays = Join("w1", 2);
  FakeWorker leaves = Join("w2", 2);
  Leaves(leaves);
  EXPECT_TRUE(MayLeave(leaves));
  EXPECT_FALSE(MayLeave(stays));
  EXPECT_EQ(Nodes(), (std::vector<std::string>{"w1", "w2"}));
  GoesAway(leaves);
  EXPECT_EQ(Nodes(), std::vector<std::string>{"w1"});
}

TEST_F(ClusterLeavingTest, OfLostNodesTheLastOnesAreRemembered) {
  const auto lose = [this](const std::string& name) {
    ASSERT_TRUE(cluster_->Register(Registration(name, 2)).ok());
    world_.timers.Advance(11'000);  // It never connects.
  };
  lose("z");
  cluster_->SetDrained("z", Drain::kDrain, [](const auto&) {});
  lose("y");
  lose("x");
  for (std::size_t i = 1; i < kLostNodesMax; ++i) lose(absl::StrCat("w", i));
  const std::vector<std::string> nodes = Nodes();
  EXPECT_EQ(nodes.size(), kLostNodesMax + 1);
  const auto has = [&](const char* name) {
    return std::find(nodes.begin(), nodes.end(), name) != nodes.end();
  };
  EXPECT_TRUE(has("z")) << "it is drained";
  EXPECT_FALSE(has("y"));
  EXPECT_TRUE(has("x") && has("w1"));
}

TEST_F(ClusterLeavingTest, GetsNoMoreJobs) {
  FakeWorker leaves = Join("w1", 2);
  Leaves(leaves);
  const JobId job = Submit(Request("key"));
  EXPECT_EQ(Starts(leaves), 0u);
  EXPECT_EQ(Show(job).state(), proto::WAITING);
}

TEST_F(ClusterLeavingTest, ItsJobMovesWithoutALossBeforeItMayLeave) {
  FakeWorker leaves = Join("w1", 2);
  const JobId job = Run(leaves);
  FakeWorker other = Join("w2", 2);
  Leaves(leaves);
  EXPECT_FALSE(MayLeave(leaves));
  Save(leaves, job);
  EXPECT_FALSE(MayLeave(leaves));
  ReportCleared(leaves, job, Epoch{1});
  Settle();
  EXPECT_TRUE(MayLeave(leaves));
  ASSERT_EQ(Starts(other), 1u);
  EXPECT_EQ(OrdersOf(other, &proto::Order::has_start)[0].start().resume().superstep(), 1u);
  EXPECT_EQ(Show(job).losses_size(), 0);
  EXPECT_EQ(Show(job).restarts(), 0u);
}

TEST_F(ClusterLeavingTest, AJobThatComesToNoBarrierSaysWhatTheNodeWaitsFor) {
  FakeWorker leaves = Join("w1", 2);
  const JobId job = Run(leaves);
  Join("w2", 2);
  EXPECT_EQ(Show(job).reason(), "");
  Leaves(leaves);
  EXPECT_NE(Show(job).reason().find("come to their next barrier"), std::string::npos);
  Save(leaves, job);
  ReportCleared(leaves, job, Epoch{1});
  Settle();
  EXPECT_EQ(Show(job).reason().find("drained"), std::string::npos) << Show(job).reason();
}

TEST_F(ClusterLeavingTest, WithoutRoomElsewhereItsJobIsSavedAndWaits) {
  FakeWorker leaves = Join("w1", 2);
  const JobId job = Run(leaves);
  Leaves(leaves);
  Save(leaves, job);
  ReportCleared(leaves, job, Epoch{1});
  Settle();
  EXPECT_TRUE(MayLeave(leaves));
  EXPECT_NE(Show(job).state(), proto::RUNNING);
  GoesAway(leaves);
  EXPECT_EQ(Nodes(), std::vector<std::string>{"w1"}) << "it holds the only images of the job";
  Cancel(job);
  Settle();
  EXPECT_TRUE(Nodes().empty());
}

TEST_F(ClusterLeavingTest, ImagesAreCopiedToANodeThatStays) {
  FakeWorker leaves = Join("w1", 2);
  const JobId job = Run(leaves);
  FakeWorker also_leaves = Join("w2", 1);
  FakeWorker stays = Join("w3", 1);
  Leaves(also_leaves);
  Leaves(leaves);
  Save(leaves, job);
  const auto copies = OrdersOf(leaves, &proto::Order::has_copy_checkpoint);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].copy_checkpoint().to_node(), "w3");
}

TEST_F(ClusterLeavingTest, ASharedDirectoryOutlivesItsWorkers) {
  proto::RegisterRequest request = Registration("w1", 2);
  request.set_images_share("images");
  FakeWorker leaves = Join(request);
  const JobId job = Run(leaves);
  FakeWorker stays = Join("w2", 1);
  Leaves(leaves);
  Save(leaves, job);
  EXPECT_TRUE(OrdersOf(leaves, &proto::Order::has_copy_checkpoint).empty());
  ReportCleared(leaves, job, Epoch{1});
  Settle();
  EXPECT_TRUE(MayLeave(leaves));
  GoesAway(leaves);
  EXPECT_EQ(Nodes(), std::vector<std::string>{"w2"});
}

TEST_F(ClusterLeavingTest, AJobThatCouldNotBeSavedIsAskedAgain) {
  FakeWorker leaves = Join("w1", 2);
  const JobId job = Run(leaves);
  Leaves(leaves);
  ReportProgress(leaves, job, Epoch{1}, 1);
  const auto takes = OrdersOf(leaves, &proto::Order::has_take_checkpoint);
  ASSERT_EQ(takes.size(), 1u);
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_checkpoint_failed()->set_reason("pid 1: descriptor 5 is a socket");
  event.mutable_checkpoint_failed()->set_checkpoint(takes[0].take_checkpoint().checkpoint());
  EXPECT_EQ(Report(leaves, event), absl::OkStatus());
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  for (int i = 0; i < 7; ++i) {
    Renew(leaves);
    world_.timers.Advance(1000);
  }
  ReportProgress(leaves, job, Epoch{1}, 2);
  const auto again = OrdersOf(leaves, &proto::Order::has_take_checkpoint);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_TRUE(again[1].take_checkpoint().hold());
}

TEST_F(ClusterLeavingTest, AWorkerThatIsStartedAgainIsANodeLikeOthers) {
  FakeWorker leaves = Join("w1", 2);
  Leaves(leaves);
  GoesAway(leaves);
  FakeWorker again = Join("w1", 2);
  const JobId job = Submit(Request("key"));
  EXPECT_EQ(Starts(again), 1u);
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
}

TEST_F(ClusterLeavingTest, AJobLeavesADrainedNodeOnceAnotherJobMakesRoom) {
  FakeWorker drained = Join("w1", 2);
  const JobId job = Run(drained);
  FakeWorker other = Join("w2", 2);
  Settle();
  const JobId second = Submit(Request("second"));
  ASSERT_EQ(Starts(other), 1u);
  ReportBegun(other, second, Epoch{1}, {0, 1});
  cluster_->SetDrained("w1", Drain::kDrain, [](const auto&) {});
  Settle();
  for (const std::uint32_t pid : {0u, 1u}) ReportExited(other, second, Epoch{1}, pid, 0);
  Settle();
  ReportCleared(other, second, Epoch{1});
  Settle();
  world_.timers.Advance(5'000);
  Save(drained, job);
  ReportCleared(drained, job, Epoch{1});
  Settle();
  EXPECT_EQ(Starts(other), 2u);
  EXPECT_EQ(Show(job).losses_size(), 0);
}

TEST_F(ClusterLeavingTest, WhatCannotBeSavedIsAskedMoreAndMoreSeldom) {
  FakeWorker drained = Join("w1", 2);
  const JobId job = Run(drained);
  FakeWorker other = Join("w2", 2);
  Settle();
  cluster_->SetDrained("w1", Drain::kDrain, [](const auto&) {});
  std::uint64_t superstep = 0;
  std::uint64_t failed = 0;
  // Each checkpoint fails, also those that the job's policy asks for: how many are for a move?
  const auto asked_to_move = [&] {
    ReportProgress(drained, job, Epoch{1}, ++superstep);
    int moves = 0;
    for (const proto::Order& order : OrdersOf(drained, &proto::Order::has_take_checkpoint)) {
      moves += order.take_checkpoint().hold() ? 1 : 0;
      if (order.take_checkpoint().checkpoint() <= failed) continue;
      failed = order.take_checkpoint().checkpoint();
      proto::WorkerEvent event = EventOf(job, Epoch{1});
      event.mutable_checkpoint_failed()->set_reason("pid 1: descriptor 5 is a socket");
      event.mutable_checkpoint_failed()->set_checkpoint(failed);
      EXPECT_EQ(Report(drained, event), absl::OkStatus());
      Settle();
    }
    return moves;
  };
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      Renew(drained);
      Renew(other);
      world_.timers.Advance(1000);
    }
  };
  EXPECT_EQ(asked_to_move(), 1);
  pass(50);
  EXPECT_EQ(asked_to_move(), 1);
  pass(20);
  EXPECT_EQ(asked_to_move(), 2);
  pass(110);
  EXPECT_EQ(asked_to_move(), 2);
  pass(20);
  EXPECT_EQ(asked_to_move(), 3);
  Leaves(drained);  // There is no time any more.
  EXPECT_EQ(asked_to_move(), 4);
}

TEST_F(ClusterLeavingTest, ANodeThatWasDrainedByItsAdministratorStaysDrained) {
  FakeWorker leaves = Join("w1", 2);
  cluster_->SetDrained("w1", Drain::kDrain, [](const auto&) {});
  Leaves(leaves);
  GoesAway(leaves);
  EXPECT_EQ(Nodes(), std::vector<std::string>{"w1"});
}

}  // namespace
}  // namespace bspnow::coordinator
