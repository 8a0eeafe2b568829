// Who reaches whom: what workers are told of each other and say of each other, and what follows.
#include <gtest/gtest.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

class ClusterPeersTest : public ClusterFixture {
 protected:
  void Pass(std::uint64_t ms, const std::vector<FakeWorker*>& alive) {
    for (std::uint64_t at = 0; at < ms; at += 250) {
      for (const FakeWorker* worker : alive) Renew(*worker);
      world_.timers.Advance(250);
    }
    Settle();
  }

  /// "+1 +2 -3; +4": what came and left, by order.
  static std::string ToldTo(const FakeWorker& worker) {
    std::string told;
    for (const proto::Order& order : OrdersOf(worker, &proto::Order::has_peers_changed)) {
      if (!told.empty()) told += "; ";
      std::string sign;
      for (const proto::Peer& peer : order.peers_changed().came())
        absl::StrAppend(&told, std::exchange(sign, " "), "+", peer.data_address());
      for (const std::uint32_t left : order.peers_changed().left())
        absl::StrAppend(&told, std::exchange(sign, " "), "-", left);
    }
    return told;
  }

  void ReportUnreachable(FakeWorker& worker, const std::vector<FakeWorker*>& peers) {
    proto::WorkerEvent event;
    event.mutable_peers_probed();
    for (const FakeWorker* peer : peers) {
      proto::UnreachablePeer& unreachable = *event.mutable_peers_probed()->add_unreachable();
      unreachable.set_worker(Value(peer->id));
      unreachable.set_reason("no answer");
    }
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
    Settle();
  }

  static proto::SubmitJobRequest OnTwoNodes() {
    proto::SubmitJobRequest request = Request("key");
    request.mutable_spec()->set_nodes(2);
    return request;
  }

  proto::Node NodeOf(const std::string& name) {
    const proto::ListNodesReply reply = cluster_->ListNodes();
    for (const proto::Node& node : reply.nodes())
      if (node.spec().name() == name) return node;
    return {};
  }
};

TEST_F(ClusterPeersTest, TellsEachWorkerOfAllOthersAndThenOfChanges) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  EXPECT_EQ(ToldTo(one), "");
  Pass(250, {&one, &two});
  EXPECT_EQ(ToldTo(one), "+w1:1 +w2:1");
  EXPECT_EQ(ToldTo(two), "+w1:1 +w2:1");
  FakeWorker three = Join("w3", 1);
  Pass(250, {&one, &two, &three});
  EXPECT_EQ(ToldTo(three), "+w1:1 +w2:1 +w3:1");
  EXPECT_EQ(ToldTo(one), "+w1:1 +w2:1; +w3:1");
  Pass(15'000, {&one, &three});
  EXPECT_EQ(ToldTo(one), absl::StrCat("+w1:1 +w2:1; +w3:1; -", Value(two.id)));
  EXPECT_EQ(ToldTo(two), "+w1:1 +w2:1; +w3:1");
}

TEST_F(ClusterPeersTest, ManyThatComeAtOnceAreToldByAndBy) {
  std::vector<FakeWorker> workers;
  std::vector<FakeWorker*> alive;
  for (int i = 0; i < 100; ++i) workers.push_back(Join(absl::StrCat("w", i), 1));
  for (FakeWorker& worker : workers) alive.push_back(&worker);
  const auto told = [&] {
    return std::count_if(workers.begin(), workers.end(),
                         [](const FakeWorker& worker) { return !ToldTo(worker).empty(); });
  };
  Pass(250, alive);
  EXPECT_LT(told(), 50);
  Pass(1'000, alive);
  EXPECT_EQ(told(), 100);
  for (const FakeWorker& worker : workers) {
    const auto orders = OrdersOf(worker, &proto::Order::has_peers_changed);
    ASSERT_EQ(orders.size(), 1u);
    EXPECT_EQ(orders[0].peers_changed().came_size(), 100);
  }
}

TEST_F(ClusterPeersTest, AJobThatBrokeBetweenTwoNodesGoesElsewhereUntilTheyReachEachOther) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  FakeWorker three = Join("w3", 1);
  Settle();
  const JobId job = Submit(OnTwoNodes());
  ASSERT_EQ(Starts(one) + Starts(two), 2u);
  ReportBegun(one, job, Epoch{1}, {0});
  ReportBegun(two, job, Epoch{1}, {1});
  ReportUnreachable(two, {&one});
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_broken()->set_reason("worker w1 cannot be reached");
  EXPECT_EQ(Report(two, event), absl::OkStatus());
  for (FakeWorker* host : {&one, &two}) ReportCleared(*host, job, Epoch{1});
  Pass(1'000, {&one, &two, &three});
  EXPECT_EQ(Starts(three), 1u);
  EXPECT_EQ(Starts(one), 2u);
  EXPECT_EQ(Starts(two), 1u);
}

TEST_F(ClusterPeersTest, AJobStartsOnceItsNodesReachEachOther) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  Settle();
  ReportUnreachable(one, {&two});
  const JobId job = Submit(OnTwoNodes());
  EXPECT_EQ(Show(job).state(), proto::WAITING);
  EXPECT_EQ(Show(job).reason(), "nodes w1 and w2 do not reach each other: no answer");
  const proto::Node shown = NodeOf("w1");
  EXPECT_EQ(shown.state(), proto::NODE_UP);
  EXPECT_EQ(shown.reason(), "cannot reach w2: no answer");
  ASSERT_EQ(shown.unreachable_size(), 1);
  EXPECT_EQ(shown.unreachable(0).name(), "w2");
  EXPECT_EQ(NodeOf("w2").reason(), "");
  ReportUnreachable(one, {});
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  EXPECT_EQ(NodeOf("w1").reason(), "");
}

TEST_F(ClusterPeersTest, AJobThatStandsIsSaidToDoSoForANodeThatCannotReachAnotherOfItsNodes) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  FakeWorker three = Join("w3", 1);
  Settle();
  const JobId job = Submit(OnTwoNodes());
  ASSERT_EQ(Starts(one) + Starts(two), 2u);
  ReportBegun(one, job, Epoch{1}, {0});
  ReportBegun(two, job, Epoch{1}, {1});
  ReportUnreachable(one, {&two, &three});
  EXPECT_EQ(Show(job).reason(), "");  // It goes on, by lanes, say.
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_barrier_wait()->set_arrived(1);
  EXPECT_EQ(Report(two, event), absl::OkStatus());
  EXPECT_EQ(Show(job).reason(), "stands: node w1 cannot reach w2: no answer");
  ReportUnreachable(one, {&three});
  EXPECT_EQ(Show(job).reason(), "");
  ReportUnreachable(one, {&two});
  event.mutable_barrier_wait()->Clear();
  EXPECT_EQ(Report(two, event), absl::OkStatus());
  EXPECT_EQ(Show(job).reason(), "");
}

TEST_F(ClusterPeersTest, AJobInALongSuperstepDoesNotStand) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  Settle();
  const JobId job = Submit(OnTwoNodes());
  ReportBegun(one, job, Epoch{1}, {0});
  ReportBegun(two, job, Epoch{1}, {1});
  ReportUnreachable(one, {&two});
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  proto::BarrierWait& wait = *event.mutable_barrier_wait();
  wait.set_late_count(2);
  for (const std::uint32_t pid : {0u, 1u}) {
    proto::LateProcess& late = *wait.add_late();
    late.set_pid(pid);
    late.set_lateness(proto::LATE_COMPUTING);
  }
  EXPECT_EQ(Report(two, event), absl::OkStatus());
  EXPECT_EQ(Show(job).reason(), "");
  wait.set_arrived(1);
  EXPECT_EQ(Report(two, event), absl::OkStatus());
  EXPECT_EQ(Show(job).reason(), "stands: node w1 cannot reach w2: no answer");
}

TEST_F(ClusterPeersTest, WhatWasSaidOfAnEarlierWorkerDoesNotCountForItsSuccessor) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  Settle();
  ReportUnreachable(one, {&two});
  Pass(15'000, {&one});
  FakeWorker again = Join("w2", 1);
  Settle();
  EXPECT_EQ(NodeOf("w1").unreachable_size(), 0);
  Submit(OnTwoNodes());
  EXPECT_EQ(Starts(again), 1u);
  ReportUnreachable(one, {&two});
  EXPECT_EQ(NodeOf("w1").unreachable_size(), 0);
}

TEST_F(ClusterPeersTest, AWorkerThatHasMovedIsToldAsOneThatWentAndCame) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  Pass(250, {&one, &two});
  proto::WorkerEvent first;
  first.set_worker(Value(two.id));
  first.set_incarnation(two.incarnation);
  first.set_term(two.term);
  first.set_data_address("elsewhere");
  EXPECT_TRUE(absl::IsInvalidArgument(cluster_->AttachWorker(first, two.sink)));
  first.set_data_address("elsewhere:1");
  EXPECT_EQ(cluster_->AttachWorker(first, two.sink), absl::OkStatus());
  Pass(250, {&one, &two});
  EXPECT_EQ(ToldTo(one), absl::StrCat("+w1:1 +w2:1; +elsewhere:1 -", Value(two.id)));
  Submit(OnTwoNodes());
  const std::vector<proto::Order> starts = OrdersOf(one, &proto::Order::has_start);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].start().hosts(1).data_address(), "elsewhere:1");
  first.clear_data_address();  // As a worker of before: nothing has changed.
  EXPECT_EQ(cluster_->AttachWorker(first, two.sink), absl::OkStatus());
  EXPECT_EQ(NodeOf("w2").address(), "elsewhere:1");
}

// It renews its lease all the time, and registers again at once.
TEST_F(ClusterPeersTest, ANodeThatNoOrderReachesRestsWhenItIsBack) {
  FakeWorker one = Join("w1", 1);
  cluster_->OnStreamBroken(one.id, one.sink.get());
  Pass(11'000, {&one});
  EXPECT_EQ(world_.frames.closed, std::vector<WorkerId>{one.id});
  cluster_->barriers().OnDisconnected(one.id);
  Pass(2'000, {});
  EXPECT_EQ(NodeOf("w1").state(), proto::NODE_LOST);
  Join("w1", 1);
  EXPECT_EQ(NodeOf("w1").state(), proto::NODE_RESTING);
  EXPECT_EQ(NodeOf("w1").reason(), "for 2 s: no control stream for 10.0 s");
}

TEST_F(ClusterPeersTest, NamesOnlyAFewOfManyInTheReason) {
  FakeWorker one = Join("w1", 1);
  std::vector<FakeWorker> others;
  for (int i = 2; i <= 6; ++i) others.push_back(Join(absl::StrCat("w", i), 1));
  std::vector<FakeWorker*> all;
  for (FakeWorker& other : others) all.push_back(&other);
  ReportUnreachable(one, all);
  EXPECT_EQ(NodeOf("w1").reason(),
            "cannot reach w2: no answer; cannot reach w3: no answer; cannot reach w4: no answer; "
            "nor 2 more");
  EXPECT_EQ(NodeOf("w1").unreachable_size(), 5);
}

TEST_F(ClusterPeersTest, AWorkerThatHasNoRoomToJoinIsShownAndNotUsed) {
  proto::RegisterRequest request = Registration("w1", 2);
  ASSERT_TRUE(cluster_->Register(request).ok());  // Then it finds no room for the note.
  request.set_unfit("writing cluster: no space left on device");
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(absl::IsResourceExhausted(cluster_->Register(request).status()));
  EXPECT_EQ(NodeOf("w1").state(), proto::NODE_RESTING);
  EXPECT_EQ(NodeOf("w1").reason(), "writing cluster: no space left on device");
  Pass(2'000, {});
  const FakeWorker worker = Join("w1", 2);
  EXPECT_EQ(NodeOf("w1").state(), proto::NODE_UP);
  Submit(Request("key"));
  EXPECT_EQ(Starts(worker), 1u);
}

TEST_F(ClusterPeersTest, AWorkerThatHasNoRoomTakesNobodysName) {
  const FakeWorker worker = Join("w1", 2);
  proto::RegisterRequest request = Registration("w1", 2);
  request.set_incarnation(7);
  request.set_unfit("no space left on device");
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster_->Register(request).status()));
  EXPECT_EQ(NodeOf("w1").state(), proto::NODE_UP);
  // Its control stream breaks; its processes go on, by the other one.
  cluster_->OnStreamBroken(worker.id, worker.sink.get());
  Renew(worker);
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster_->Register(request).status()));
  cluster_->barriers().OnDisconnected(worker.id);
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(request).status()));  // Its lease may hold.
  EXPECT_EQ(NodeOf("w1").state(), proto::NODE_CONNECTING);
  world_.timers.Advance(1'300);
  EXPECT_TRUE(absl::IsResourceExhausted(cluster_->Register(request).status()));
  EXPECT_EQ(NodeOf("w1").state(), proto::NODE_RESTING);
}

}  // namespace
}  // namespace bspnow::coordinator
