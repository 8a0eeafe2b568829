#include "worker/exchange/node_exchange.h"

#include <gtest/gtest.h>

#include <vector>

namespace bspnow::worker {
namespace {

using FrameClass = NodeExchange::FrameClass;
using Verdict = NodeExchange::Verdict;
using Frames = std::vector<std::uint64_t>;

constexpr BarrierCounts kSilent{};
constexpr BarrierCounts kData{.data = 2, .gets = 0, .votes = 0, .ending = 0};

// Node 0 of three, past bsp_begin's barrier.
NodeExchange Begun(std::uint32_t barriers_per_superstep) {
  NodeExchange exchange(
      NodeExchangePlan{.self = 0, .hosts = 3, .barriers_per_superstep = barriers_per_superstep});
  exchange.OnLocalArrival(kSilent, Frames{0, 0, 0});
  EXPECT_TRUE(exchange.OnRelease(0, kSilent, Frames{0, 0, 0}).release);
  return exchange;
}

bool Arrive(NodeExchange& exchange) {
  return exchange.OnLocalArrival(kSilent, Frames{0, 0, 0}).arrive;
}

// Passes a barrier at which nobody sends anything.
void Pass(NodeExchange& exchange) {
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnRelease(exchange.barrier(), kSilent, Frames{0, 0, 0}).release);
}

TEST(NodeExchangeTest, ArrivesWithWhatItOwes) {
  NodeExchange exchange = Begun(1);
  EXPECT_TRUE(exchange.OnLocalArrival(kData, Frames{0, 4, 7}).arrive);
  EXPECT_EQ(exchange.arrival().barrier, 1u);
  EXPECT_EQ(exchange.arrival().superstep, 0u);
  EXPECT_EQ(exchange.arrival().counts, kData);
  EXPECT_EQ(exchange.arrival().frames, (Frames{0, 4, 7}));
}

TEST(NodeExchangeTest, ReleasesAtOnceIfNothingIsOwed) {
  NodeExchange exchange = Begun(1);
  Arrive(exchange);
  const NodeExchange::Actions actions = exchange.OnRelease(1, kData, Frames{0, 0, 0});
  EXPECT_TRUE(actions.release);
  EXPECT_EQ(exchange.global_counts(), kData);
  EXPECT_EQ(exchange.released_superstep(), 0u);
  EXPECT_EQ(exchange.superstep(), 1u);
}

TEST(NodeExchangeTest, WaitsForEveryFrameThatTheReleasePromises) {
  NodeExchange exchange = Begun(1);
  Arrive(exchange);
  EXPECT_FALSE(exchange.OnRelease(1, kData, Frames{0, 2, 1}).release);
  EXPECT_FALSE(exchange.OnFrame(1, 0, FrameClass::kBatch).release);
  EXPECT_FALSE(exchange.OnFrame(2, 0, FrameClass::kBatch).release);
  EXPECT_TRUE(exchange.OnFrame(1, 0, FrameClass::kBatch).release);
}

TEST(NodeExchangeTest, CountsFramesThatComeBeforeArrivalAndRelease) {
  NodeExchange exchange = Begun(1);
  EXPECT_FALSE(exchange.OnFrame(1, 0, FrameClass::kBatch).release);
  Arrive(exchange);
  EXPECT_FALSE(exchange.OnFrame(2, 0, FrameClass::kBatch).release);
  EXPECT_TRUE(exchange.OnRelease(1, kData, Frames{0, 1, 1}).release);
}

TEST(NodeExchangeTest, KeepsTheFramesOfAPeerThatIsASuperstepAhead) {
  NodeExchange exchange = Begun(1);
  Arrive(exchange);
  ASSERT_EQ(exchange.Check(1, FrameClass::kBatch), Verdict::kTake);
  EXPECT_FALSE(exchange.OnFrame(1, 1, FrameClass::kBatch).release);
  // It is not taken for the frame of superstep 0 that is missing.
  EXPECT_FALSE(exchange.OnRelease(1, kData, Frames{0, 1, 0}).release);
  EXPECT_TRUE(exchange.OnFrame(1, 0, FrameClass::kBatch).release);
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnRelease(2, kData, Frames{0, 1, 0}).release);
}

TEST(NodeExchangeTest, JudgesFramesByTheirSuperstep) {
  NodeExchange exchange = Begun(1);
  Pass(exchange);
  Pass(exchange);
  ASSERT_EQ(exchange.superstep(), 2u);
  EXPECT_EQ(exchange.Check(1, FrameClass::kBatch), Verdict::kStale);
  EXPECT_EQ(exchange.Check(2, FrameClass::kGets), Verdict::kTake);
  EXPECT_EQ(exchange.Check(3, FrameClass::kBatch), Verdict::kTake);
  EXPECT_EQ(exchange.Check(4, FrameClass::kBatch), Verdict::kImpossible);
  EXPECT_EQ(exchange.Check(0, FrameClass::kAnswers), Verdict::kStale);
  EXPECT_EQ(exchange.Check(1, FrameClass::kAnswers), Verdict::kTake);
  EXPECT_EQ(exchange.Check(2, FrameClass::kAnswersEnd), Verdict::kTake);
  EXPECT_EQ(exchange.Check(3, FrameClass::kAnswersEnd), Verdict::kImpossible);
}

TEST(NodeExchangeTest, ReleasesOnlyOnceForARepeatedRelease) {
  NodeExchange exchange = Begun(1);
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnRelease(1, kSilent, Frames{0, 0, 0}).release);
  EXPECT_FALSE(exchange.OnRelease(1, kSilent, Frames{0, 0, 0}).release);
  Arrive(exchange);
  EXPECT_FALSE(exchange.OnRelease(1, kSilent, Frames{0, 0, 0}).release);
}

TEST(NodeExchangeTest, IgnoresAReleaseBeforeItsOwnArrival) {
  NodeExchange exchange = Begun(1);
  EXPECT_FALSE(exchange.OnRelease(1, kSilent, Frames{0, 0, 0}).release);
  EXPECT_FALSE(Arrive(exchange) && exchange.barrier() == 2);
}

TEST(NodeExchangeTest, PrunesWhatIsOlderThanTheSuperstepThatEnds) {
  NodeExchange exchange = Begun(1);
  Pass(exchange);
  EXPECT_EQ(exchange.pruned(), 0u);  // Frames of superstep 0 may still be on their way.
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnRelease(2, kSilent, Frames{0, 0, 0}).prune);
  EXPECT_EQ(exchange.pruned(), 1u);
}

TEST(NodeExchangeTest, RepeatsItsLastTwoArrivalsToANewConnection) {
  NodeExchange exchange(NodeExchangePlan{.self = 0, .hosts = 3, .barriers_per_superstep = 1});
  EXPECT_FALSE(exchange.OnCoordinatorReconnected().arrive);
  EXPECT_FALSE(exchange.OnCoordinatorReconnected().arrive_before);
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnCoordinatorReconnected().arrive);
  EXPECT_FALSE(exchange.OnCoordinatorReconnected().arrive_before);
  exchange.OnRelease(0, kSilent, Frames{0, 0, 0});
  EXPECT_FALSE(exchange.OnCoordinatorReconnected().arrive);
  EXPECT_TRUE(exchange.OnCoordinatorReconnected().arrive_before);
}

TEST(NodeExchangeTest, RepeatsItsArrivalAlsoIfOnlyFramesAreMissing) {
  NodeExchange exchange = Begun(1);
  Arrive(exchange);
  exchange.OnRelease(1, kData, Frames{0, 1, 0});
  EXPECT_TRUE(exchange.OnCoordinatorReconnected().arrive);  // Others may not have heard of it.
  EXPECT_TRUE(exchange.OnCoordinatorReconnected().arrive_before);
}

TEST(NodeExchangeTest, SendsAnswersToThoseWhoAsked) {
  NodeExchange exchange = Begun(1);
  exchange.OnFrame(2, 0, FrameClass::kGets);
  exchange.OnFrame(1, 0, FrameClass::kBatch);
  Arrive(exchange);
  ASSERT_TRUE(exchange.OnRelease(1, kData, Frames{0, 1, 1}).release);
  EXPECT_TRUE(exchange.OnLocalAnswers(0).send_answers);
  EXPECT_FALSE(exchange.Asked(1));
  EXPECT_TRUE(exchange.Asked(2));
  // Not again in a superstep in which nobody asks.
  Pass(exchange);
  EXPECT_TRUE(exchange.OnLocalAnswers(1).send_answers);
  EXPECT_FALSE(exchange.Asked(2));
  Pass(exchange);
  EXPECT_TRUE(exchange.OnLocalAnswers(2).send_answers);
  EXPECT_FALSE(exchange.Asked(2));
}

TEST(NodeExchangeTest, KeepsAnswersThatComeBeforeTheRelease) {
  NodeExchange exchange = Begun(1);
  Arrive(exchange);
  exchange.OnFrame(1, 0, FrameClass::kAnswers);
  EXPECT_FALSE(exchange.OnFrame(1, 0, FrameClass::kAnswersEnd).take_answers);
  EXPECT_FALSE(exchange.TakeAnswered(1));
  EXPECT_TRUE(exchange.OnRelease(1, kData, Frames{0, 0, 0}).take_answers);
  EXPECT_TRUE(exchange.TakeAnswered(1));
  EXPECT_FALSE(exchange.TakeAnswered(1));
}

TEST(NodeExchangeTest, TakesAnswersAfterTheReleaseAtOnce) {
  NodeExchange exchange = Begun(1);
  Pass(exchange);
  EXPECT_TRUE(exchange.OnFrame(2, 0, FrameClass::kAnswersEnd).take_answers);
  EXPECT_FALSE(exchange.TakeAnswered(1));
  EXPECT_TRUE(exchange.TakeAnswered(2));
}

TEST(NodeExchangeTest, AGroupBeginsInSuperstepZero) {
  for (const std::uint32_t barriers_per_superstep : {1u, 2u}) {
    NodeExchange exchange(NodeExchangePlan{.self = 0,
                                           .hosts = 3,
                                           .barriers_per_superstep = barriers_per_superstep,
                                           .first_barrier = 1});
    EXPECT_EQ(exchange.barrier(), 1u);
    EXPECT_EQ(exchange.superstep(), 0u);
    EXPECT_EQ(exchange.ends_superstep(), barriers_per_superstep == 1);
    EXPECT_EQ(exchange.Check(2, FrameClass::kBatch), Verdict::kImpossible);
    Pass(exchange);
    EXPECT_EQ(exchange.superstep(), barriers_per_superstep == 1 ? 1u : 0u);
  }
}

TEST(NodeExchangeTest, PassesTheFirstOfTwoBarriersOfAFullCheckWithoutFrames) {
  NodeExchange exchange = Begun(2);
  EXPECT_FALSE(exchange.ends_superstep());
  exchange.OnFrame(1, 0, FrameClass::kBatch);  // Of the second barrier.
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnRelease(1, kSilent, Frames{0, 0, 0}).release);
  EXPECT_EQ(exchange.superstep(), 0u);
  EXPECT_TRUE(exchange.ends_superstep());
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnRelease(2, kData, Frames{0, 1, 0}).release);
  EXPECT_EQ(exchange.superstep(), 1u);
}

// ---- Barriers that the processes pass by lanes --------------------------------------------------

TEST(NodeExchangeTest, GoesOnAtTheBarrierThatTheProcessesReachNext) {
  NodeExchange exchange = Begun(1);
  EXPECT_TRUE(exchange.OnPassed(5).prune);
  EXPECT_EQ(exchange.barrier(), 5u);
  EXPECT_EQ(exchange.superstep(), 4u);
  EXPECT_EQ(exchange.pruned(), 3u);
  EXPECT_FALSE(exchange.OnPassed(5).prune);
  Pass(exchange);
  EXPECT_EQ(exchange.barrier(), 6u);
}

TEST(NodeExchangeTest, FramesOfThePeerThatIsAheadCountWhenTheProcessesAreThere) {
  NodeExchange exchange = Begun(1);
  exchange.OnPassed(3);
  EXPECT_EQ(exchange.Check(3, FrameClass::kBatch), NodeExchange::Verdict::kTake);
  exchange.OnFrame(1, 3, FrameClass::kBatch);
  exchange.OnPassed(4);
  Arrive(exchange);
  EXPECT_TRUE(exchange.OnRelease(4, kData, Frames{0, 1, 0}).release);
}

TEST(NodeExchangeTest, NothingIsPassedElsewhereWhileItWaits) {
  NodeExchange exchange = Begun(1);
  Arrive(exchange);
  EXPECT_FALSE(exchange.OnPassed(3).prune);
  EXPECT_EQ(exchange.barrier(), 1u);
}

}  // namespace
}  // namespace bspnow::worker
