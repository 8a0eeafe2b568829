#include "net/retention.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace bspnow {
namespace {

RetainedFrame Of(std::uint64_t job, std::uint64_t epoch, std::uint64_t superstep) {
  return {.job = JobId{job}, .epoch = Epoch{epoch}, .superstep = Superstep{superstep}, .bytes = 10};
}

RetainedFrame OfGroup(std::uint64_t group, std::uint64_t superstep) {
  RetainedFrame frame = Of(1, 1, superstep);
  frame.group = GroupId{group};
  return frame;
}

std::vector<std::uint64_t> Sequences(const std::vector<RetainedFrame>& frames) {
  std::vector<std::uint64_t> sequences;
  for (const RetainedFrame& frame : frames) sequences.push_back(frame.sequence);
  return sequences;
}

// Sends up to n frames; returns their sequences.
std::vector<std::uint64_t> SendUpTo(Retention& retention, int n) {
  std::vector<std::uint64_t> sent;
  for (int i = 0; i < n; ++i) {
    const auto next = retention.NextToSend();
    if (!next.has_value()) break;
    retention.Sent();
    sent.push_back(next->sequence);
  }
  return sent;
}

using Numbers = std::vector<std::uint64_t>;

TEST(RetentionTest, NumbersFromOneAndSendsInOrder) {
  Retention retention;
  EXPECT_FALSE(retention.NextToSend().has_value());
  for (int i = 0; i < 3; ++i) retention.Add(Of(1, 1, 0));
  EXPECT_FALSE(retention.AwaitsAck());
  EXPECT_EQ(SendUpTo(retention, 9), (Numbers{1, 2, 3}));
  EXPECT_TRUE(retention.AwaitsAck());
  EXPECT_FALSE(retention.NextToSend().has_value());
}

TEST(RetentionTest, SendsAgainWhatTheReceiverDoesNotHave) {
  Retention retention;
  for (int i = 0; i < 5; ++i) retention.Add(Of(1, 1, 0));
  SendUpTo(retention, 4);
  EXPECT_EQ(Sequences(*retention.OnWelcome(2)), (Numbers{1, 2}));
  EXPECT_FALSE(retention.AwaitsAck());
  EXPECT_EQ(SendUpTo(retention, 9), (Numbers{3, 4, 5}));
}

TEST(RetentionTest, TellsFirstSendingFromAgain) {
  Retention retention;
  retention.Add(Of(1, 1, 0));
  EXPECT_TRUE(retention.Sent());
  retention.OnWelcome(0);
  EXPECT_FALSE(retention.Sent());
}

TEST(RetentionTest, AcknowledgingWhatWasNeverSentIsALie) {
  Retention retention;
  retention.Add(Of(1, 1, 0));
  EXPECT_FALSE(retention.OnAck(1).has_value());
  EXPECT_FALSE(retention.OnWelcome(1).has_value());
  EXPECT_EQ(retention.frames(), 1u);
}

TEST(RetentionTest, RepeatedAndOlderAcksChangeNothing) {
  Retention retention;
  for (int i = 0; i < 3; ++i) retention.Add(Of(1, 1, 0));
  SendUpTo(retention, 3);
  EXPECT_EQ(retention.OnAck(2)->size(), 2u);
  EXPECT_TRUE(retention.OnAck(2)->empty());
  EXPECT_TRUE(retention.OnAck(1)->empty());
  EXPECT_EQ(retention.frames(), 1u);
}

TEST(RetentionTest, PrunesASuperstepAndWhatIsOlder) {
  Retention retention;
  retention.Add(Of(1, 1, 9));  // An older epoch.
  retention.Add(Of(1, 2, 3));
  retention.Add(Of(1, 2, 4));
  retention.Add(Of(2, 2, 3));  // Another job.
  EXPECT_EQ(Sequences(retention.PruneTo(JobId{1}, Epoch{2}, kRootGroup, Superstep{3})),
            (Numbers{1, 2}));
  EXPECT_EQ(SendUpTo(retention, 9), (Numbers{3, 4}));
}

TEST(RetentionTest, PrunesAndDropsOneGroupAndKeepsTheOthers) {
  constexpr GroupId kOne{std::uint64_t{1} << 40};
  constexpr GroupId kTwo{std::uint64_t{1} << 41};
  Retention retention;
  for (const std::uint64_t superstep : {0, 1, 2}) {
    retention.Add(OfGroup(Value(kOne), superstep));
    retention.Add(OfGroup(Value(kTwo), superstep));
  }
  EXPECT_EQ(Sequences(retention.PruneTo(JobId{1}, Epoch{1}, kOne, Superstep{1})), (Numbers{1, 3}));
  EXPECT_TRUE(retention.Holds(JobId{1}, kOne));
  EXPECT_EQ(Sequences(retention.DropGroup(JobId{1}, kTwo)), (Numbers{2, 4, 6}));
  EXPECT_FALSE(retention.Holds(JobId{1}, kTwo));
  EXPECT_FALSE(retention.Holds(JobId{2}, kOne));
  EXPECT_EQ(SendUpTo(retention, 9), (Numbers{5}));
  EXPECT_EQ(Sequences(retention.PruneTo(JobId{1}, Epoch{2}, kRootGroup, Superstep{0})),
            (Numbers{5}))
      << "an older epoch, of whatever group";
}

TEST(RetentionTest, DropsOneJobAndKeepsTheOthers) {
  Retention retention;
  for (int i = 0; i < 4; ++i) retention.Add(Of(1 + i % 2, 1, 0));
  SendUpTo(retention, 2);
  EXPECT_EQ(Sequences(retention.DropGroup(JobId{1}, kRootGroup)), (Numbers{1, 3}));
  EXPECT_TRUE(retention.AwaitsAck());
  EXPECT_EQ(Sequences(retention.Drop(2)), (Numbers{2}));
  EXPECT_FALSE(retention.AwaitsAck());
  EXPECT_EQ(SendUpTo(retention, 9), (Numbers{4}));
}

TEST(ReceptionTest, TakesEachFrameOnceAndAllowsGaps) {
  Reception reception;
  EXPECT_EQ(reception.OnHello(77), 0u);
  EXPECT_TRUE(reception.Take(1));
  EXPECT_FALSE(reception.Take(1));
  EXPECT_TRUE(reception.Take(5));
  EXPECT_FALSE(reception.Take(4));
  EXPECT_EQ(reception.OnHello(77), 5u);
}

TEST(ReceptionTest, NewIncarnationStartsAnewAndAnOldOneIsRemembered) {
  Reception reception;
  reception.OnHello(1);
  reception.Take(5);
  EXPECT_EQ(reception.OnHello(2), 0u);
  reception.Take(3);
  EXPECT_EQ(reception.OnHello(1), 5u);
  EXPECT_EQ(reception.OnHello(2), 3u);
}

// Any worker can say Hello in the name of another one, and bring frames of no job here.
TEST(ReceptionTest, OneWithProvenFramesOutlivesAnyNumberOfHellos) {
  Reception reception;
  reception.OnHello(1);
  reception.Take(5);
  reception.OnProven();
  for (std::uint64_t stranger = 100; stranger < 110; ++stranger) {
    EXPECT_EQ(reception.OnHello(stranger), 0u);
    reception.Take(9);
  }
  EXPECT_EQ(reception.OnHello(1), 5u);
}

TEST(ReceptionTest, OfTheProvenOnesTheOldestGoesFirst) {
  Reception reception;
  for (std::uint64_t incarnation = 1; incarnation <= 5; ++incarnation) {
    EXPECT_EQ(reception.OnHello(incarnation), 0u);
    reception.Take(7);
    reception.OnProven();
  }
  EXPECT_EQ(reception.OnHello(2), 7u);
  EXPECT_EQ(reception.OnHello(1), 0u);
}

// Sender and receiver over connections that break at any time and lose what is on its way, in both
// directions, while jobs are dropped: what is not dropped arrives once, in order.
class RetentionScheduleTest : public testing::TestWithParam<int> {};

TEST_P(RetentionScheduleTest, EachFrameArrivesOnceInOrder) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  Retention sender;
  Reception receiver;
  std::deque<std::uint64_t> data, acks;
  std::set<std::uint64_t> added, dropped, acked;
  std::vector<std::uint64_t> arrived;
  sender.OnWelcome(receiver.OnHello(1));
  const auto deliver = [&](const std::vector<RetainedFrame>& frames) {
    for (const std::uint64_t sequence : Sequences(frames))
      EXPECT_TRUE(acked.insert(sequence).second);
  };
  const auto step = [&](unsigned event) {
    if (event < 4) {
      added.insert(sender.Add(Of(random() % 3, 1, 0)));
    } else if (event < 8) {
      for (const std::uint64_t sequence : SendUpTo(sender, 2)) data.push_back(sequence);
    } else if (event < 12 && !data.empty()) {
      if (receiver.Take(data.front())) arrived.push_back(data.front());
      data.pop_front();
    } else if (event < 14) {
      acks.push_back(receiver.last());
    } else if (event < 17 && !acks.empty()) {
      deliver(*sender.OnAck(acks.front()));
      acks.pop_front();
    } else if (event == 17) {
      data.clear();
      acks.clear();
      deliver(*sender.OnWelcome(receiver.OnHello(1)));
    } else if (event == 18) {
      for (const std::uint64_t sequence : Sequences(sender.DropGroup(JobId{2}, kRootGroup)))
        dropped.insert(sequence);
    }
  };
  for (int i = 0; i < 3000; ++i) step(random() % 19);
  while (!sender.empty()) {  // Let it come to an end.
    for (const unsigned event : {4u, 8u, 8u, 12u, 14u}) step(event);
  }
  EXPECT_TRUE(std::is_sorted(arrived.begin(), arrived.end()));
  const std::set<std::uint64_t> once(arrived.begin(), arrived.end());
  EXPECT_EQ(once.size(), arrived.size());
  for (const std::uint64_t sequence : added)
    EXPECT_TRUE(once.contains(sequence) || dropped.contains(sequence)) << sequence;
  for (const std::uint64_t sequence : acked) EXPECT_TRUE(once.contains(sequence)) << sequence;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RetentionScheduleTest, testing::Range(0, 50));

}  // namespace
}  // namespace bspnow
