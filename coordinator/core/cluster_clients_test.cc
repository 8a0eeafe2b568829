// Clients that stay with their job: who may, and when their input goes on.
#include <gtest/gtest.h>
#include <signal.h>

#include <optional>
#include <string>

#include <absl/strings/str_cat.h>
#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

class FakeClient final : public AttachedClient {
 public:
  ClientIdentity identity() const override { return {.user = "anna", .address = "far:1"}; }
  void InputTaken(std::uint64_t bytes) override { taken = bytes; }
  void Replaced() override { replaced = true; }
  std::uint64_t taken = 0;
  bool replaced = false;
};

class ClusterClientsTest : public ClusterFixture {
 protected:
  /// A job that runs on `worker`, with a client.
  JobId RunAttached(FakeWorker& worker) {
    proto::SubmitJobRequest request = Request("key");
    request.mutable_spec()->set_attached(true);
    request.mutable_spec()->set_reconnect_ms(60'000);
    const JobId job = Submit(request);
    EXPECT_EQ(cluster_->Attach(job, "key", std::make_shared<FakeClient>()), absl::OkStatus());
    ReportBegun(worker, job, Epoch{1}, {0, 1});
    Settle();
    return job;
  }
};

TEST_F(ClusterClientsTest, OnlyTheClientThatSubmittedAttaches) {
  proto::SubmitJobRequest request = Request("key");
  request.mutable_spec()->set_attached(true);
  const JobId job = Submit(request);
  const auto client = std::make_shared<FakeClient>();
  EXPECT_TRUE(absl::IsPermissionDenied(cluster_->Attach(job, "another", client)));
  EXPECT_EQ(cluster_->Attach(job, "key", client), absl::OkStatus());
  EXPECT_EQ(cluster_->Attach(job, "key", std::make_shared<FakeClient>()), absl::OkStatus());
  EXPECT_TRUE(client->replaced);
}

TEST_F(ClusterClientsTest, AJobEndsWhenItsClientLeaves) {
  proto::SubmitJobRequest request = Request("key");
  request.mutable_spec()->set_attached(true);
  const JobId job = Submit(request);
  const auto client = std::make_shared<FakeClient>();
  EXPECT_EQ(cluster_->Attach(job, "key", client), absl::OkStatus());
  cluster_->OnClientLeft(job, std::make_shared<FakeClient>().get());  // Another one.
  Settle();
  EXPECT_EQ(Show(job).state(), proto::WAITING);
  cluster_->OnClientLeft(job, client.get());
  Settle();
  EXPECT_EQ(Show(job).state(), proto::CANCELLED);
}

TEST_F(ClusterClientsTest, WhoEndsAJobIsToldOnceHoweverOften) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = RunAttached(worker);
  cluster_->OnSignal(job, SIGUSR1);
  EXPECT_TRUE(world_.client_ends.empty()) << "it goes on";
  cluster_->OnSignal(job, SIGINT);
  cluster_->OnSignal(job, SIGTERM);
  ASSERT_EQ(world_.client_ends.size(), 1u);
  EXPECT_EQ(world_.client_ends[0].job, job);
  EXPECT_EQ(world_.client_ends[0].how, absl::StrCat("signal ", SIGINT));
  EXPECT_EQ(world_.client_ends[0].client.user, "anna");
  EXPECT_EQ(world_.client_ends[0].client.address, "far:1");
}

TEST_F(ClusterClientsTest, ItIsToldThatAClientLeftOrDidNotComeBack) {
  const auto submit = [this](const std::string& key) {
    proto::SubmitJobRequest request = Request(key);
    request.mutable_spec()->set_attached(true);
    request.mutable_spec()->set_user("otto");
    return Submit(request);
  };
  const JobId jobs[] = {submit("left"), submit("lost"), submit("never came")};
  const auto client = std::make_shared<FakeClient>();
  EXPECT_EQ(cluster_->Attach(jobs[0], "left", client), absl::OkStatus());
  EXPECT_EQ(cluster_->Attach(jobs[1], "lost", client), absl::OkStatus());
  cluster_->OnClientLeft(jobs[0], client.get());
  cluster_->OnClientLost(jobs[1], client.get());
  world_.timers.Advance(2 * kAttachWithinNs / 1'000'000);
  Settle();
  ASSERT_EQ(world_.client_ends.size(), 3u);
  EXPECT_EQ(world_.client_ends[0].how, "its client left");
  for (const int i : {1, 2}) EXPECT_EQ(world_.client_ends[i].how, "its client did not come back");
  EXPECT_EQ(world_.client_ends[1].client.user, "anna");
  EXPECT_EQ(world_.client_ends[2].client.user, "otto") << "whose it is";
  EXPECT_EQ(world_.client_ends[2].client.address, "");
}

TEST_F(ClusterClientsTest, InputIsSentOnceTheProcessesRunWhereverTheyCan) {
  FakeWorker workers[] = {Join("w1", 2), Join("w2", 2)};
  Settle();
  proto::SubmitJobRequest request = Request("key");
  request.mutable_spec()->set_attached(true);
  const JobId job = Submit(request);
  EXPECT_EQ(cluster_->Attach(job, "key", std::make_shared<FakeClient>()), absl::OkStatus());
  EXPECT_EQ(cluster_->OnInput(job, {.data = "line\n"}), absl::OkStatus());
  FakeWorker& sick = workers[Starts(workers[0]) == 1 ? 0 : 1];
  FakeWorker& sound = workers[Starts(workers[0]) == 1 ? 1 : 0];
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_not_started()->set_reason("no space left on device");
  event.mutable_not_started()->set_exit_status(1);
  EXPECT_EQ(Report(sick, event), absl::OkStatus());
  Settle();
  ReportCleared(sick, job, Epoch{1});
  Settle();
  world_.timers.Advance(1'000);
  Settle();
  ASSERT_EQ(Starts(sound), 1u);
  ReportBegun(sound, job, Epoch{2}, {0, 1});
  Settle();
  EXPECT_TRUE(OrdersOf(sick, &proto::Order::has_input).empty());
  const auto inputs = OrdersOf(sound, &proto::Order::has_input);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].input().data(), "line\n");
}

// Else a coordinator that comes back would start it again without what pid 0 has taken.
TEST_F(ClusterClientsTest, InputIsSentOnceItIsDurableThatTheJobTookSome) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = RunAttached(worker);
  EXPECT_EQ(cluster_->OnInput(job, {.data = "one\n"}), absl::OkStatus());
  EXPECT_TRUE(world_.journal.records.at(job).took_input());
  EXPECT_TRUE(OrdersOf(worker, &proto::Order::has_input).empty());
  Settle();
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_input).size(), 1u);
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_input_taken()->set_bytes(4);
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  EXPECT_EQ(cluster_->OnInput(job, {.offset = 4, .data = "two\n"}), absl::OkStatus());
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_input).size(), 2u);  // That is known by now.
}

TEST_F(ClusterClientsTest, InputWaitsAsLongAsTheJournalTakesNothing) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = RunAttached(worker);
  EXPECT_EQ(cluster_->OnInput(job, {.data = "line\n"}), absl::OkStatus());
  for (int again = 0; again < 3; ++again) {
    Finish(world_.journal.calls, absl::ResourceExhaustedError("full"));
    EXPECT_TRUE(world_.journal.calls.empty());
    world_.timers.Advance(1'000);
  }
  EXPECT_TRUE(OrdersOf(worker, &proto::Order::has_input).empty());
  Settle();
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_input).size(), 1u);
}

TEST_F(ClusterClientsTest, InputThatWaitsForTheNextEpochIsNotForgottenByTheRowOfItsStart) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = RunAttached(worker);
  ReportExited(worker, job, Epoch{1}, 1, SIGKILL);
  EXPECT_EQ(cluster_->OnInput(job, {.data = "line\n"}), absl::OkStatus());
  Settle();
  ReportCleared(worker, job, Epoch{1});
  Settle();
  ReportBegun(worker, job, Epoch{2}, {0, 1});
  Settle();
  EXPECT_TRUE(Show(job).losses(0).resumed());
  EXPECT_TRUE(world_.journal.records.at(job).took_input());
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_input).size(), 1u);
}

// A process died while no coordinator was there: its node comes back, and the epoch is over.
TEST_F(ClusterClientsTest, InputWaitsForTheNextEpochIfThisOneReturnsOnlyToEnd) {
  FakeWorker before = Join("w1", 2);
  const JobId job = RunAttached(before);
  Restart();
  proto::RegisterRequest returning = Returning(before, 0);
  returning.mutable_node()->set_slots(2);
  proto::HeldJob& held = *returning.mutable_held(0);
  held.add_begun(1);
  held.add_exited()->set_pid(1);
  held.mutable_exited(0)->set_signal(SIGKILL);
  held.mutable_exited(0)->set_reached(static_cast<std::uint32_t>(Reached::kRunning));
  FakeWorker worker = Join(returning);
  EXPECT_EQ(cluster_->Attach(job, "key", std::make_shared<FakeClient>()), absl::OkStatus());
  EXPECT_EQ(cluster_->OnInput(job, {.data = "line\n"}), absl::OkStatus());
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RECOVERING);
  EXPECT_TRUE(OrdersOf(worker, &proto::Order::has_input).empty());
  ReportCleared(worker, job, Epoch{1});
  Settle();
  ReportBegun(worker, job, Epoch{2}, {0, 1});
  Settle();
  ASSERT_EQ(OrdersOf(worker, &proto::Order::has_input).size(), 1u);
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_input)[0].input().epoch(), 2u);
}

// Should this start fail, another one gets it.
TEST_F(ClusterClientsTest, InputWaitsForAStartThatTheLastCoordinatorOrdered) {
  const FakeWorker before = Join("w1", 2);
  proto::SubmitJobRequest request = Request("key");
  request.mutable_spec()->set_attached(true);
  request.mutable_spec()->set_reconnect_ms(60'000);
  const JobId job = Submit(request);
  Restart();
  proto::RegisterRequest returning = Returning(before, 0);
  returning.mutable_held(0)->clear_begun();
  FakeWorker worker = Join(returning);
  EXPECT_EQ(cluster_->Attach(job, "key", std::make_shared<FakeClient>()), absl::OkStatus());
  EXPECT_EQ(cluster_->OnInput(job, {.data = "line\n"}), absl::OkStatus());
  Settle();
  EXPECT_FALSE(world_.journal.records.at(job).took_input());
  ReportBegun(worker, job, Epoch{1}, {0, 1});
  Settle();
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_input).size(), 1u);
}

TEST_F(ClusterClientsTest, AJobThatTakesInputBeforeItIsSavedIsNotSuspended) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = RunAttached(worker);
  const Answer answer = NewAnswer();
  cluster_->Suspend(job, Into(answer));
  EXPECT_EQ(cluster_->OnInput(job, {.data = "line\n"}), absl::OkStatus());
  Settle();
  ReportProgress(worker, job, Epoch{1}, 1);
  const auto takes = OrdersOf(worker, &proto::Order::has_take_checkpoint);
  ASSERT_FALSE(takes.empty());
  ReportStored(worker, job, Epoch{1}, takes.back().take_checkpoint().checkpoint(), {0, 1});
  Settle();
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition((*answer)->status()));
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  EXPECT_EQ(OrdersOf(worker, &proto::Order::has_release_held).size(), 1u);
}

}  // namespace
}  // namespace bspnow::coordinator
