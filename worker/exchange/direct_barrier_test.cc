#include "worker/exchange/direct_barrier.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "net/frame_check.h"

namespace bspnow::worker {
namespace {

using TakingPart = std::vector<std::uint32_t>;

const TakingPart kTwoEach{2, 2};

// Of two processes.
PeerArrival At(std::uint64_t barrier) {
  PeerArrival arrival{};
  arrival.barrier = barrier;
  arrival.processes = 2;
  return arrival;
}

bool Arrive(DirectBarrier& barrier, std::uint32_t host, const PeerArrival& arrival) {
  return barrier.OnArrival(host, BytesOf(arrival), 2);
}

bool ArriveNaming(DirectBarrier& barrier, std::uint32_t host, std::uint64_t at,
                  std::uint64_t checkpoint) {
  PeerArrival arrival = At(at);
  arrival.checkpoint = checkpoint;
  return Arrive(barrier, host, arrival);
}

/// What is decided at this barrier if the hosts were told of these checkpoints.
std::uint64_t Decided(DirectBarrier& barrier, std::uint64_t at, std::uint64_t here,
                      std::uint64_t there) {
  EXPECT_TRUE(ArriveNaming(barrier, 0, at, here));
  EXPECT_TRUE(ArriveNaming(barrier, 1, at, there));
  const auto outcome = barrier.Finish(kTwoEach);
  EXPECT_TRUE(outcome.has_value());
  return outcome ? outcome->checkpoint : ~std::uint64_t{0};
}

TEST(DirectBarrierTest, IsOverWhenAllHaveArrived) {
  DirectBarrier barrier(0, 2);
  EXPECT_FALSE(barrier.Finish(kTwoEach));
  EXPECT_TRUE(Arrive(barrier, 1, At(1)));
  EXPECT_FALSE(barrier.Finish(kTwoEach));
  EXPECT_TRUE(Arrive(barrier, 0, At(1)));
  EXPECT_TRUE(barrier.Finish(kTwoEach));
  EXPECT_FALSE(barrier.Finish(kTwoEach));
}

TEST(DirectBarrierTest, DoesNotWaitForAHostWithoutProcesses) {
  DirectBarrier barrier(0, 3);
  EXPECT_TRUE(Arrive(barrier, 0, At(1)));
  EXPECT_TRUE(Arrive(barrier, 2, At(1)));
  EXPECT_TRUE(barrier.Finish(TakingPart{2, 0, 2}));
  EXPECT_FALSE(barrier.OnArrival(1, BytesOf(At(1)), 0));
}

TEST(DirectBarrierTest, AddsUpAndKeepsWhatEachPeerOwes) {
  DirectBarrier barrier(1, 2);
  PeerArrival here = At(1);
  here.with_data = 1;
  here.with_gets = 2;
  here.frames = 9;  // To itself: nothing comes.
  here.has_sums = 1;
  here.sums.compute_ns = 10;
  here.sums.w_ns = 7;
  here.sums.h_in_bytes = 100;
  here.sums.messages_out = 3;
  PeerArrival there = here;
  there.with_votes = 2;
  there.frames = 4;
  there.sums.w_ns = 9;
  EXPECT_TRUE(Arrive(barrier, 0, there));
  EXPECT_TRUE(Arrive(barrier, 1, here));
  const auto outcome = barrier.Finish(kTwoEach);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->counts, (BarrierCounts{.data = 2, .gets = 4, .votes = 2, .ending = 0}));
  EXPECT_EQ(outcome->frames, (std::vector<std::uint64_t>{4, 0}));
  ASSERT_TRUE(outcome->sums);
  EXPECT_EQ(outcome->sums->compute_ns, 20u);
  EXPECT_EQ(outcome->sums->w_ns, 9u);
  EXPECT_EQ(outcome->sums->h_in_bytes, 100u);
  EXPECT_EQ(outcome->sums->messages_out, 6u);
}

// It has left the barrier at which this node still waits for its own processes to be let go.
TEST(DirectBarrierTest, APeerMayBeOneBarrierAheadAndNoMore) {
  DirectBarrier barrier(0, 2);
  EXPECT_TRUE(Arrive(barrier, 1, At(1)));
  EXPECT_TRUE(Arrive(barrier, 1, At(2)));
  EXPECT_FALSE(Arrive(barrier, 1, At(3)));
  EXPECT_TRUE(Arrive(barrier, 0, At(1)));
  EXPECT_TRUE(barrier.Finish(kTwoEach));
  EXPECT_TRUE(Arrive(barrier, 1, At(3)));
  EXPECT_TRUE(Arrive(barrier, 0, At(2)));
  EXPECT_TRUE(barrier.Finish(kTwoEach));
}

TEST(DirectBarrierTest, RefusesWhatCannotBe) {
  DirectBarrier barrier(0, 2);
  EXPECT_FALSE(Arrive(barrier, 1, At(0)));  // The coordinator's.
  EXPECT_FALSE(Arrive(barrier, 2, At(1)));
  EXPECT_FALSE(barrier.OnArrival(1, BytesOf(At(1)).first(sizeof(PeerArrival) - 1), 2));
  EXPECT_FALSE(barrier.OnArrival(1, BytesOf(At(1)), 3));
  PeerArrival too_many = At(1);
  too_many.with_gets = 3;
  EXPECT_FALSE(Arrive(barrier, 1, too_many));
  PeerArrival mixed = At(1);
  mixed.ending = 1;
  EXPECT_FALSE(Arrive(barrier, 1, mixed));  // Which one?
  EXPECT_TRUE(Arrive(barrier, 1, At(1)));
  EXPECT_FALSE(Arrive(barrier, 1, At(1)));
}

// The order reaches one node before the other: the first barrier to which both came with it.
TEST(DirectBarrierTest, DecidesForACheckpointWhenAllWereToldOfIt) {
  DirectBarrier barrier(0, 2);
  EXPECT_EQ(Decided(barrier, 1, 0, 0), 0u);
  EXPECT_EQ(Decided(barrier, 2, 0, 5), 0u);
  EXPECT_EQ(Decided(barrier, 3, 5, 5), 5u);
  EXPECT_EQ(Decided(barrier, 4, 5, 5), 0u);  // Once.
  EXPECT_EQ(Decided(barrier, 5, 6, 5), 0u);  // 6 was told to one of them; what 5 was is over.
  EXPECT_EQ(Decided(barrier, 6, 6, 6), 6u);
}

// 7 was given up before all nodes had heard of it: nobody takes it while another takes 8.
TEST(DirectBarrierTest, NodesNeverDecideForDifferentCheckpoints) {
  DirectBarrier barrier(0, 2);
  EXPECT_EQ(Decided(barrier, 1, 8, 7), 0u);
  EXPECT_EQ(Decided(barrier, 2, 8, 8), 8u);
}

TEST(DirectBarrierTest, NoCheckpointWhereAProcessEnds) {
  DirectBarrier barrier(0, 2);
  PeerArrival ending = At(1);
  ending.checkpoint = 1;
  ending.ending = 2;
  EXPECT_TRUE(Arrive(barrier, 0, ending));
  EXPECT_TRUE(Arrive(barrier, 1, ending));
  const auto outcome = barrier.Finish(kTwoEach);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->checkpoint, 0u);
}

TEST(DirectBarrierTest, ACheckpointWaitsWhileAProcessIsInAnotherGroup) {
  DirectBarrier barrier(0, 2);
  PeerArrival there = At(1);
  there.checkpoint = 1;
  there.with_groups = 1;
  EXPECT_TRUE(ArriveNaming(barrier, 0, 1, 1));
  EXPECT_TRUE(Arrive(barrier, 1, there));
  const auto outcome = barrier.Finish(kTwoEach);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->checkpoint, 0u);
  EXPECT_EQ(outcome->counts.groups, 1u);
  EXPECT_EQ(Decided(barrier, 2, 1, 1), 1u);
  PeerArrival too_many = At(3);
  too_many.with_groups = 3;
  EXPECT_FALSE(Arrive(barrier, 1, too_many));
}

// By lanes, of which this hears nothing but that they were passed.
TEST(DirectBarrierTest, GoesOnAtTheBarrierThatComesNext) {
  DirectBarrier barrier(0, 2);
  barrier.OnPassed(4);
  EXPECT_FALSE(Arrive(barrier, 1, At(3))) << "it is over";
  EXPECT_TRUE(Arrive(barrier, 1, At(5))) << "a peer may be one ahead";
  EXPECT_TRUE(Arrive(barrier, 0, At(4)));
  EXPECT_FALSE(barrier.Finish(kTwoEach)) << "nobody has said that it is at 4";
  barrier.OnPassed(5);
  EXPECT_TRUE(Arrive(barrier, 0, At(5)));
  EXPECT_TRUE(barrier.Finish(kTwoEach));
}

TEST(DirectBarrierTest, LanesAreReadyWhereAllNodesTakePartAndSaySo) {
  const auto ready = [](std::uint32_t there, const TakingPart& taking_part) {
    DirectBarrier barrier(0, 2);
    PeerArrival arrival = At(1);
    arrival.lanes_ready = 1;
    EXPECT_TRUE(Arrive(barrier, 0, arrival));
    arrival.lanes_ready = there;
    EXPECT_TRUE(Arrive(barrier, 1, arrival));
    return barrier.Finish(taking_part)->lanes_ready;
  };
  EXPECT_TRUE(ready(1, kTwoEach));
  EXPECT_FALSE(ready(0, kTwoEach));
  EXPECT_FALSE(ready(1, TakingPart{2, 0}));
}

TEST(DirectBarrierTest, SaysWhoIsInBspEnd) {
  DirectBarrier barrier(0, 2);
  PeerArrival all = At(1);
  all.ending = 2;
  PeerArrival some = At(1);
  some.ending = 1;
  std::vector<std::byte> bytes(sizeof some + 1);
  memcpy(bytes.data(), &some, sizeof some);
  bytes.back() = std::byte{1 << 3};
  EXPECT_TRUE(Arrive(barrier, 0, all));
  EXPECT_TRUE(barrier.OnArrival(1, bytes, 2));
  ASSERT_TRUE(barrier.Finish(kTwoEach));
  EXPECT_TRUE(barrier.InEnd(0, Pid{0}));
  EXPECT_FALSE(barrier.InEnd(1, Pid{2}));
  EXPECT_TRUE(barrier.InEnd(1, Pid{3}));
  EXPECT_FALSE(barrier.InEnd(1, Pid{300}));
}

}  // namespace
}  // namespace bspnow::worker
