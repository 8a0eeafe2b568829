#include "coordinator/core/worker_session.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

using Novelty = WorkerSession::Novelty;

TEST(WorkerSessionTest, KeepsOrdersUntilTheyAreTaken) {
  WorkerSession session;
  EXPECT_EQ(session.Give({}).sequence(), 1u);
  EXPECT_EQ(session.Give({}).sequence(), 2u);
  session.OnOrdersTaken(0);
  EXPECT_EQ(session.untaken().size(), 2u);
  session.OnOrdersTaken(1);
  ASSERT_EQ(session.untaken().size(), 1u);
  EXPECT_EQ(session.untaken().front().sequence(), 2u);
  session.OnOrdersTaken(2);
  EXPECT_TRUE(session.untaken().empty());
}

TEST(WorkerSessionTest, TellsRepeatedEventsFromNewOnes) {
  WorkerSession session;
  EXPECT_EQ(*session.OnEvent(1), Novelty::kNew);
  EXPECT_EQ(*session.OnEvent(2), Novelty::kNew);
  EXPECT_EQ(*session.OnEvent(1), Novelty::kRepeated);
  EXPECT_EQ(*session.OnEvent(2), Novelty::kRepeated);
  EXPECT_EQ(*session.OnEvent(3), Novelty::kNew);
}

TEST(WorkerSessionTest, RefusesEventsWithAGapBeforeThem) {
  WorkerSession session;
  EXPECT_EQ(*session.OnEvent(1), Novelty::kNew);
  EXPECT_FALSE(session.OnEvent(3).ok());
  EXPECT_EQ(*session.OnEvent(2), Novelty::kNew);
}

TEST(WorkerSessionTest, OutputCountsOnlyWhenItIsInTheLog) {
  WorkerSession session;
  ASSERT_TRUE(session.OnEvent(1).ok());
  EXPECT_EQ(session.acted_upon(), 1u);
  ASSERT_TRUE(session.OnEvent(2).ok());
  session.AwaitLog();
  ASSERT_TRUE(session.OnEvent(3).ok());
  EXPECT_EQ(session.acted_upon(), 1u);
  ASSERT_TRUE(session.OnEvent(4).ok());
  session.AwaitLog();
  session.OnLogged(2);
  EXPECT_EQ(session.acted_upon(), 3u);
  session.OnLogged(4);
  EXPECT_EQ(session.acted_upon(), 4u);
}

TEST(WorkerSessionTest, OutputThatIsLoggedFirstDoesNotCountForEarlierOutput) {
  WorkerSession session;
  for (const std::uint64_t sequence : {1u, 2u, 3u}) {
    ASSERT_TRUE(session.OnEvent(sequence).ok());
    EXPECT_EQ(session.AwaitLog(), sequence);
  }
  session.OnLogged(3);
  EXPECT_EQ(session.acted_upon(), 0u);
  EXPECT_EQ(session.awaits_log(), 1u);
  session.OnLogged(1);
  EXPECT_EQ(session.acted_upon(), 1u);
  EXPECT_EQ(session.awaits_log(), 2u);
  session.OnLogged(2);
  EXPECT_EQ(session.acted_upon(), 3u);
  EXPECT_EQ(session.awaits_log(), 0u);
}

TEST(WorkerSessionTest, EventsAfterOutputComeInTheirTurn) {
  WorkerSession session;
  EXPECT_EQ(session.awaits_log(), 0u);
  for (const std::uint64_t sequence : {1u, 2u, 3u}) {
    ASSERT_TRUE(session.OnEvent(sequence).ok());
    session.AwaitLog();
  }
  EXPECT_EQ(session.awaits_log(), 1u);
  session.OnLogged(1);
  EXPECT_EQ(session.awaits_log(), 2u);
  EXPECT_EQ(session.acted_upon(), 1u);
}

}  // namespace
}  // namespace bspnow::coordinator
