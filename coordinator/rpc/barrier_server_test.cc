#include "coordinator/rpc/barrier_server.h"

#include <gtest/gtest.h>
#include <string.h>

#include <string>
#include <vector>

#include "coordinator/testing/barrier_fixture.h"

namespace bspnow::coordinator {
namespace {

TEST_F(BarrierServerTest, WelcomesARegisteredWorkerAndRenewsItsLease) {
  const auto client = Welcomed(kA);
  EXPECT_TRUE(Connected(kA));
  const HeartbeatBody body{.sent_ns = 77};
  client->Say(HeaderOf(FrameKind::kHeartbeat), BytesOf(body));
  Until([&] { return client->Count(FrameKind::kLease) == 1; });
  EXPECT_EQ(client->last().payload.size(), sizeof body);
  EXPECT_EQ(memcmp(client->last().payload.data(), &body, sizeof body), 0);
}

TEST_F(BarrierServerTest, RefusesStrangers) {
  const auto stranger = Connect(WorkerId{9});
  stranger->Hello(1);
  const auto impostor = Connect(kA);
  impostor->Hello(99);  // Another incarnation.
  const auto hasty = Connect(kA);
  hasty->Arrive(0, 1);  // Without Hello.
  Until([&] { return stranger->closed() && impostor->closed() && hasty->closed(); });
  EXPECT_EQ(barriers_->refused(Refusal::kUnknownWorker), 3u);
  EXPECT_FALSE(Connected(kA));
}

TEST_F(BarrierServerTest, TellsBeginAndReleasesBothWhenTheLastArrives) {
  AddJob();
  const auto a = Welcomed(kA);
  const auto b = Welcomed(kB);
  a->Begin(2);
  Until([&] { return b->Count(FrameKind::kBegin) == 1; });
  EXPECT_EQ(a->Count(FrameKind::kBegin), 0u);
  a->Arrive(0, 1);
  b->Arrive(0, 1);
  Until([&] { return a->Count(FrameKind::kRelease) == 1 && b->Count(FrameKind::kRelease) == 1; });
  EXPECT_EQ(a->last().header.job, Value(kJob));
  EXPECT_EQ(barriers_->released(), 1u);
  EXPECT_EQ(live().running->stats->totals().processes(), 2u);
}

TEST_F(BarrierServerTest, AWorkerThatReconnectsHearsBeginAndItsReleaseAgain) {
  AddJob();
  const auto a = Welcomed(kA);
  auto b = Welcomed(kB);
  a->Begin(2);
  a->Arrive(0, 1);
  b->Arrive(0, 1);
  Until([&] { return a->Count(FrameKind::kRelease) == 1; });
  b = Welcomed(kB);
  Until([&] { return b->Count(FrameKind::kBegin) == 1; });
  b->Arrive(0, 1);
  Until([&] { return b->Count(FrameKind::kRelease) == 1; });
  EXPECT_EQ(a->Count(FrameKind::kRelease), 1u);
  EXPECT_EQ(barriers_->released(), 1u);
}

TEST_F(BarrierServerTest, ANewConnectionReplacesTheOldOne) {
  const auto first = Welcomed(kA);
  const auto second = Welcomed(kA);
  Until([&] { return first->closed(); });
  EXPECT_TRUE(Connected(kA));
  EXPECT_FALSE(second->closed());
}

TEST_F(BarrierServerTest, DropsAndCountsWhatIsForNoJobThatRuns) {
  AddJob();
  const auto a = Welcomed(kA);
  ArriveBody body{};
  a->Say(Client::OfJob(FrameKind::kArrive, Epoch{9}), BytesOf(body));
  FrameHeader other = Client::OfJob(FrameKind::kArrive, kEpoch);
  other.job = 6;
  a->Say(other, BytesOf(body));
  other = Client::OfJob(FrameKind::kArrive, kEpoch);
  other.group = 1;
  a->Say(other, BytesOf(body));
  Until([&] { return barriers_->refused(Refusal::kUnknownJob) == 2; });
  EXPECT_EQ(barriers_->refused(Refusal::kOldEpoch), 1u);
  EXPECT_FALSE(a->closed());
  EXPECT_TRUE(broken_.empty());
}

TEST_F(BarrierServerTest, AContradictionBreaksTheJobOnce) {
  AddJob();
  const auto a = Welcomed(kA);
  a->Begin(2);
  a->Arrive(3, 1);
  a->Arrive(3, 1);
  Until([&] { return barriers_->refused(Refusal::kUnknownJob) == 1; });
  Until([&] { return !broken_.empty(); });
  EXPECT_EQ(broken_, std::vector<std::string>{
                         "worker=1: arrival at a barrier before the one before is over"});
  EXPECT_EQ(barriers_->refused(Refusal::kContradiction), 1u);
}

TEST_F(BarrierServerTest, ClosesAStreamThatMakesNoSense) {
  const auto a = Welcomed(kA);
  const BeginBody body{.nprocs = 1, .reserved = 0};
  a->Say(HeaderOf(FrameKind::kArrive), BytesOf(body));
  Until([&] { return a->closed(); });
  EXPECT_EQ(barriers_->refused(Refusal::kMalformed), 1u);
  const auto b = Welcomed(kB);
  b->Say(HeaderOf(FrameKind::kRelease), {});  // Only the coordinator says that.
  Until([&] { return b->closed(); });
  EXPECT_EQ(barriers_->refused(Refusal::kMalformed), 2u);
  EXPECT_EQ(server_->faults(FrameFault::kMalformed), 0u);  // Else they count twice.
}

TEST_F(BarrierServerTest, TakesProgressOfAJobOnOneNode) {
  Start({.nprocs = 1, .hosts = {{kA, {Pid{0}}}}});
  const auto a = Welcomed(kA);
  ProgressBody body{};
  body.totals.supersteps = 12;
  body.superstep = 12;
  body.processes = 1;
  a->Say(Client::OfJob(FrameKind::kProgress, kEpoch), BytesOf(body));
  Until([&] { return live().superstep() == Superstep{12}; });
  EXPECT_EQ(live().running->stats->totals().supersteps(), 12u);
}

TEST_F(BarrierServerTest, ClosesTheStreamOfANode) {
  const auto a = Welcomed(kA);
  barriers_->CloseStream(*nodes_.Find(kA));
  EXPECT_FALSE(Connected(kA));
  Until([&] { return a->closed(); });
}

TEST_F(BarrierServerTest, RefusesAWorkerOfAnotherTerm) {
  const auto client = Connect(kA);
  client->Hello(11, kTerm - 1);
  Until([&] { return client->closed(); });
  EXPECT_FALSE(Connected(kA));
  EXPECT_EQ(barriers_->refused(Refusal::kUnknownWorker), 1u);
}

TEST_F(BarrierServerTest, AsksForACheckpointWhereOneMayBeAndTellsAll) {
  Start({.nprocs = 2,
         .hosts = {{kA, {Pid{0}}}, {kB, {Pid{1}}}},
         .participants = 2,
         .first_superstep = Superstep{99}});
  EXPECT_EQ(live().participants(), 2u);
  const auto a = Welcomed(kA);
  const auto b = Welcomed(kB);
  directive_ = {.checkpoint = 8, .base = 7, .hold = 1};
  for (const std::uint64_t barrier : {0u, 1u, 2u}) {
    a->Arrive(barrier, 1);
    b->Arrive(barrier, 1);
    Until([&] {
      return a->Count(FrameKind::kRelease) == barrier + 1 &&
             b->Count(FrameKind::kRelease) == barrier + 1;
    });
    for (const Client* client : {a.get(), b.get()}) {
      ReleaseBody body;
      memcpy(&body, client->last().payload.data(), sizeof body);
      EXPECT_EQ(body.checkpoint, barrier == 2 ? 8u : 0u);
    }
  }
  // Superstep 0 of the epoch only repeats registrations; it is shown as 99, and 101 comes next.
  EXPECT_EQ(next_, std::vector<std::uint64_t>{101});
  EXPECT_EQ(live().superstep(), Superstep{101});
}

TEST_F(BarrierServerTest, AdoptsAnEpochThatRanBeforeItsStart) {
  Start({.nprocs = 2, .hosts = {{kA, {Pid{0}}}, {kB, {Pid{1}}}}, .origin = EpochOrigin::kAdopted});
  live().running->OnResumed(Superstep{41});
  live().running->OnPutBack();
  directive_ = {.checkpoint = 8};
  const auto b = Welcomed(kB);
  b->Arrive(7, 1);  // Waits there,
  b->Arrive(6, 1);  // and has passed this one.
  const auto a = Welcomed(kA);
  a->Begin(2);
  a->Arrive(7, 1);  // Has passed it.
  Until([&] { return b->Count(FrameKind::kRelease) == 1 && a->Count(FrameKind::kRelease) == 1; });
  EXPECT_EQ(live().superstep(), Superstep{47});
  EXPECT_TRUE(next_.empty());
  a->Arrive(8, 1);
  b->Arrive(8, 1);
  Until([&] { return b->Count(FrameKind::kRelease) == 2; });
  EXPECT_EQ(next_, std::vector<std::uint64_t>{48});
  EXPECT_TRUE(broken_.empty());
}

}  // namespace
}  // namespace bspnow::coordinator
