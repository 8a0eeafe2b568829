#include "coordinator/core/checkpoints/job_checkpoints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace bspnow::coordinator {
namespace {

const LiveNodes kThree = {{"a", ""}, {"b", ""}, {"c", ""}};

JobCheckpoints::Stored StoredBy(std::uint64_t number, std::uint64_t superstep,
                                const std::vector<std::uint32_t>& pids) {
  JobCheckpoints::Stored stored{.number = number,
                                .superstep = Superstep{superstep},
                                .participants = 4,
                                .of_areas = false,
                                .images = {},
                                .cpu_features = {"avx2"},
                                .cost = {.pause_ns = 100, .background_ns = 10}};
  for (const std::uint32_t pid : pids)
    stored.images.push_back(
        {.pid = Pid{pid}, .file_bytes = 1000, .output_bytes = pid, .error_bytes = 0});
  return stored;
}

/// Two hosts, a with pids 0 and 1, b with 2 and 3.
class JobCheckpointsTest : public testing::Test {
 protected:
  JobCheckpoints::Asked Ask(Hold hold) {
    const auto asked = job_.Ask({"a", "b"}, hold, {});
    EXPECT_TRUE(asked.has_value());
    return asked.value_or(JobCheckpoints::Asked{});
  }

  /// The orders of the second host's answer.
  CheckpointOrders StoreAll(std::uint64_t number, std::uint64_t superstep) {
    const CheckpointOrders first = job_.OnStored("a", StoredBy(number, superstep, {1, 0}), kThree);
    EXPECT_TRUE(first.copies.empty());
    return job_.OnStored("b", StoredBy(number, superstep, {2, 3}), kThree);
  }

  CheckpointOrders CopyAll(const CheckpointOrders& stored) {
    CheckpointOrders last;
    for (const auto& copy : stored.copies)
      last = job_.OnCopied(copy.host, copy.checkpoint, copy.to_node, "", kThree);
    return last;
  }

  CheckpointOrders Commit(std::uint64_t superstep) {
    const std::uint64_t number = Ask(Hold::kNo).number;
    EXPECT_TRUE(CopyAll(StoreAll(number, superstep)).commit.has_value());
    return job_.OnCommitted(number, 1);
  }

  JobCheckpoints job_{{.copies = 1, .term = 1}};
};

std::set<std::string> NodesOf(const std::vector<CheckpointOrders::ReleaseHeld>& release_held) {
  std::set<std::string> nodes;
  for (const auto& each : release_held) nodes.insert(each.node);
  return nodes;
}

TEST_F(JobCheckpointsTest, CommitsWhenAllImagesAreOnTwoNodes) {
  const JobCheckpoints::Asked asked = Ask(Hold::kNo);
  EXPECT_EQ(asked.number, 1u);
  EXPECT_EQ(asked.base, 0u);
  const CheckpointOrders stored = StoreAll(asked.number, 800);
  ASSERT_EQ(stored.copies.size(), 2u);
  EXPECT_FALSE(stored.commit.has_value());
  for (const auto& copy : stored.copies) EXPECT_NE(copy.host, copy.to_node);
  EXPECT_NE(stored.copies[0].to_node, stored.copies[1].to_node);  // Spread.
  EXPECT_FALSE(job_.OnCopied("a", 1, stored.copies[0].to_node, "", kThree).commit.has_value());
  const CheckpointOrders copied = job_.OnCopied("b", 1, stored.copies[1].to_node, "", kThree);
  ASSERT_TRUE(copied.commit.has_value());
  EXPECT_EQ(job_.last(), nullptr);  // Not before it is in the journal.
  const CheckpointOrders committed = job_.OnCommitted(1, 77);
  ASSERT_TRUE(committed.end.has_value());
  EXPECT_EQ(committed.end->failure, "");
  ASSERT_NE(job_.last(), nullptr);
  EXPECT_EQ(job_.last()->superstep, Superstep{800});
  EXPECT_EQ(job_.last()->committed_unix_ms, 77);
  EXPECT_EQ(job_.last()->parts[0].images[0].pid, Pid{0});
  EXPECT_EQ(committed.keeps.size(), 3u);
  EXPECT_TRUE(committed.release_held.empty());
}

TEST_F(JobCheckpointsTest, OneAtATime) {
  Ask(Hold::kNo);
  EXPECT_FALSE(job_.Ask({"a", "b"}, Hold::kNo, {}).has_value());
}

TEST_F(JobCheckpointsTest, OneNodeAloneIsEnough) {
  ASSERT_TRUE(job_.Ask({"a"}, Hold::kNo, {}).has_value());
  const LiveNodes alone = {{"a", ""}};
  EXPECT_TRUE(job_.OnStored("a", StoredBy(1, 5, {0, 1, 2, 3}), alone).commit.has_value());
}

TEST_F(JobCheckpointsTest, NodesThatShareADirectoryNeedNoCopies) {
  Ask(Hold::kNo);
  const LiveNodes shared = {{"a", "nfs"}, {"b", "nfs"}, {"c", "nfs"}};
  job_.OnStored("a", StoredBy(1, 5, {0, 1}), shared);
  const CheckpointOrders orders = job_.OnStored("b", StoredBy(1, 5, {2, 3}), shared);
  EXPECT_TRUE(orders.copies.empty());
  ASSERT_TRUE(orders.commit.has_value());
  job_.OnCommitted(1, 1);
  EXPECT_NE(job_.Best({{"c", "nfs"}}), nullptr);  // Any of them will do.
  EXPECT_EQ(job_.Best({{"c", ""}}), nullptr);
}

TEST_F(JobCheckpointsTest, FailureOfAHostLetsAllGoAndTheNextIsFull) {
  Commit(10);
  EXPECT_EQ(Ask(Hold::kYes).base, 1u);
  job_.OnStored("a", StoredBy(2, 20, {0, 1}), kThree);
  const CheckpointOrders orders = job_.OnFailed("b", 2, "pid 3: descriptor 5 is a socket");
  EXPECT_EQ(NodesOf(orders.release_held), (std::set<std::string>{"a", "b"}));
  ASSERT_TRUE(orders.end.has_value());
  EXPECT_EQ(orders.end->failure, "node b: pid 3: descriptor 5 is a socket");
  EXPECT_EQ(orders.end->hold, Hold::kYes);
  EXPECT_EQ(job_.last()->number, 1u);
  EXPECT_EQ(Ask(Hold::kNo).base, 0u);
}

TEST_F(JobCheckpointsTest, LossOfAHostGivesUp) {
  Ask(Hold::kNo);
  const CheckpointOrders orders = job_.OnNodeLost("b", {{"a", ""}, {"c", ""}});
  ASSERT_TRUE(orders.end.has_value());
  EXPECT_EQ(orders.end->failure, "node b was lost");
  EXPECT_FALSE(job_.under_way());
}

TEST_F(JobCheckpointsTest, AnotherNodeTakesTheCopyOfOneThatIsLost) {
  const LiveNodes four = {{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}};
  ASSERT_TRUE(job_.Ask({"a"}, Hold::kNo, {}).has_value());
  const CheckpointOrders stored = job_.OnStored("a", StoredBy(1, 5, {0, 1, 2, 3}), four);
  ASSERT_EQ(stored.copies.size(), 1u);
  EXPECT_EQ(stored.copies[0].to_node, "b");
  const CheckpointOrders lost = job_.OnNodeLost("b", {{"a", ""}, {"c", ""}, {"d", ""}});
  ASSERT_EQ(lost.copies.size(), 1u);
  EXPECT_EQ(lost.copies[0].to_node, "c");
  EXPECT_TRUE(job_.OnCopied("a", 1, "c", "", {{"a", ""}, {"c", ""}}).commit.has_value());
}

TEST_F(JobCheckpointsTest, ANodeThatCannotTakeACopyIsPassedOver) {
  ASSERT_TRUE(job_.Ask({"a"}, Hold::kNo, {}).has_value());
  job_.OnStored("a", StoredBy(1, 5, {0, 1, 2, 3}), kThree);
  const CheckpointOrders next = job_.OnCopied("a", 1, "b", "no space left", kThree);
  ASSERT_EQ(next.copies.size(), 1u);
  EXPECT_EQ(next.copies[0].to_node, "c");
  const CheckpointOrders none = job_.OnCopied("a", 1, "c", "disk quota", kThree);
  ASSERT_TRUE(none.end.has_value());
  EXPECT_EQ(none.end->failure, "no other node takes the images of node a: disk quota");
  EXPECT_EQ(NodesOf(none.release_held), (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(JobCheckpointsTest, ChainsEndInAFullImage) {
  Commit(1);
  std::vector<std::uint64_t> bases = {0};
  for (std::uint64_t superstep = 2; superstep <= 12; ++superstep) {
    const JobCheckpoints::Asked asked = Ask(Hold::kNo);
    bases.push_back(asked.base);
    CopyAll(StoreAll(asked.number, superstep));
    job_.OnCommitted(asked.number, 1);
    EXPECT_LE(job_.ChainOf(asked.number).size(), kChainMax);
  }
  EXPECT_EQ(bases, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11}));
}

TEST_F(JobCheckpointsTest, KeepsTwoAndWhatTheyBuildUpon) {
  for (std::uint64_t superstep = 1; superstep <= 8; ++superstep) Commit(superstep);
  const CheckpointOrders ninth = Commit(9);
  for (const auto& keep : ninth.keeps)
    EXPECT_EQ(keep.checkpoints, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const CheckpointOrders tenth = Commit(10);
  for (const auto& keep : tenth.keeps)
    EXPECT_EQ(keep.checkpoints, (std::vector<std::uint64_t>{9, 10}));
}

TEST_F(JobCheckpointsTest, ThePartnerOfTheBaseTakesTheNext) {
  const std::uint64_t number = Ask(Hold::kNo).number;
  const CheckpointOrders first = StoreAll(number, 1);
  CopyAll(first);
  job_.OnCommitted(number, 1);
  Ask(Hold::kNo);
  const CheckpointOrders second = StoreAll(2, 2);
  ASSERT_EQ(second.copies.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(second.copies[i].to_node, first.copies[i].to_node);
    EXPECT_EQ(second.copies[i].chain, (std::vector<std::uint64_t>{1, 2}));
  }
}

TEST_F(JobCheckpointsTest, CommitThatTheJournalRefusesIsGivenUp) {
  Ask(Hold::kYes);
  CopyAll(StoreAll(1, 5));
  const CheckpointOrders orders = job_.OnCommitFailed(1, "the journal does not take it: disk full");
  ASSERT_TRUE(orders.end.has_value());
  EXPECT_EQ(orders.end->failure, "the journal does not take it: disk full");
  EXPECT_EQ(NodesOf(orders.release_held), (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(job_.last(), nullptr);
}

TEST_F(JobCheckpointsTest, CommitOnItsWayCountsThoughTheEpochIsOver) {
  Ask(Hold::kNo);
  CopyAll(StoreAll(1, 5));
  EXPECT_FALSE(job_.GiveUp("the job stopped running").end.has_value());
  job_.OnCommitted(1, 1);
  ASSERT_NE(job_.last(), nullptr);
  EXPECT_EQ(Ask(Hold::kNo).base, 0u);  // Other processes than those that it saved.
}

TEST_F(JobCheckpointsTest, LateWordsAreReleaseHeld) {
  Ask(Hold::kNo);
  job_.OnFailed("b", 1, "x");
  const CheckpointOrders orders = job_.OnStored("a", StoredBy(1, 5, {0, 1}), kThree);
  EXPECT_EQ(NodesOf(orders.release_held), std::set<std::string>{"a"});
  EXPECT_FALSE(orders.end.has_value());
}

TEST_F(JobCheckpointsTest, HostsThatContradictEachOtherGiveUp) {
  Ask(Hold::kNo);
  job_.OnStored("a", StoredBy(1, 5, {0, 1}), kThree);
  const CheckpointOrders orders = job_.OnStored("b", StoredBy(1, 6, {2, 3}), kThree);
  ASSERT_TRUE(orders.end.has_value());
  EXPECT_NE(orders.end->failure.find("superstep 6"), std::string::npos) << orders.end->failure;
}

TEST_F(JobCheckpointsTest, AMissingImageGivesUp) {
  Ask(Hold::kNo);
  job_.OnStored("a", StoredBy(1, 5, {0, 1}), kThree);
  const CheckpointOrders orders = job_.OnStored("b", StoredBy(1, 5, {1, 3}), kThree);
  ASSERT_TRUE(orders.end.has_value());
  EXPECT_EQ(orders.end->failure, "its nodes saved 4 images of 4 processes");
}

TEST_F(JobCheckpointsTest, GoesBackToTheNewestThatCanBeHad) {
  Commit(10);
  Commit(20);
  EXPECT_EQ(job_.Best(kThree)->superstep, Superstep{20});
  job_.OnDamaged(2);
  EXPECT_EQ(job_.Best(kThree)->superstep, Superstep{10});
  EXPECT_TRUE(job_.GoBackTo(1).has_value());
  EXPECT_EQ(job_.last()->number, 1u);
  EXPECT_EQ(Ask(Hold::kNo).number, 3u);  // No number comes twice.
}

TEST_F(JobCheckpointsTest, TheJournalIsToldAgainWhatItCouldNotForget) {
  EXPECT_FALSE(job_.GoBackTo(0).has_value());  // Nothing was ever committed.
  Commit(10);
  Commit(20);
  ASSERT_TRUE(job_.GoBackTo(1).has_value());  // The disk is full, say.
  const auto again = job_.GoBackTo(1);
  ASSERT_TRUE(again.has_value());
  ASSERT_EQ(again->checkpoints.size(), 1u);
  EXPECT_EQ(again->checkpoints[0].number, 1u);
}

TEST_F(JobCheckpointsTest, WaitsForNodesThatHoldTheOnlyImages) {
  Commit(10);
  const std::string partner = job_.last()->parts[0].holders[1];
  const LiveNodes others = {{partner == "c" ? "b" : "c", ""}};
  EXPECT_EQ(job_.Best(others), nullptr);
  EXPECT_FALSE(job_.Awaited(others).empty());
  EXPECT_TRUE(job_.Awaited(kThree).empty());
  job_.OnDamaged(1);
  EXPECT_TRUE(job_.Awaited(others).empty());
}

TEST_F(JobCheckpointsTest, ANodeThatComesBackEmptyHoldsNothing) {
  Commit(10);
  job_.OnNodeStores("a", {});
  for (const CheckpointPart& part : job_.last()->parts)
    EXPECT_EQ(std::count(part.holders.begin(), part.holders.end(), "a"), 0);
  const CheckpointOrders orders = job_.OnNodeStores("b", {1, 9});
  ASSERT_EQ(orders.keeps.size(), 1u);
  EXPECT_EQ(orders.keeps[0].checkpoints, std::vector<std::uint64_t>{1});
  EXPECT_EQ(orders.release_held.size(), 2u);  // Either may hold processes.
}

TEST_F(JobCheckpointsTest, ANodeThatSaysItHasItsImagesAfterAllHoldsThem) {
  Commit(10);
  for (const std::string node : {"a", "b", "c"}) job_.OnNodeStores(node, {});
  EXPECT_EQ(job_.Best(kThree), nullptr);
  JobCheckpoints after({.copies = 1, .term = 2});
  after.Restore(*job_.GoBackTo(1));
  for (JobCheckpoints* job : {&job_, &after}) {
    for (const std::string node : {"a", "b", "c"}) job->OnNodeStores(node, {1});
    ASSERT_NE(job->Best(kThree), nullptr);
    for (const CheckpointPart& part : job->last()->parts) {
      EXPECT_EQ(part.holders.size(), 2u);
      EXPECT_TRUE(part.former.empty());
    }
  }
}

TEST_F(JobCheckpointsTest, NumbersAreNotUsedAgainAfterARestart) {
  Commit(10);
  std::uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    last = Ask(Hold::kNo).number;
    job_.OnFailed("a", last, "x");
  }
  JobCheckpoints restarted({.copies = 1, .term = 2});
  restarted.Restore({.last_number = 1, .count = 1, .term = 1, .checkpoints = job_.committed()});
  const auto asked = restarted.Ask({"a", "b"}, Hold::kNo, {});
  ASSERT_TRUE(asked.has_value());
  EXPECT_GT(asked->number, last);
  EXPECT_EQ(asked->base, 0u);
  EXPECT_EQ(restarted.count(), 1u);
}

TEST_F(JobCheckpointsTest, AfterManyFailuresTheJournalMustHaveTheirNumbers) {
  CheckpointOrders last;
  for (std::uint64_t i = 0; i < kAttemptsMax; ++i) {
    EXPECT_FALSE(last.numbers.has_value());
    last = job_.OnFailed("a", Ask(Hold::kNo).number, "x");
  }
  ASSERT_TRUE(last.numbers.has_value());
  EXPECT_EQ(last.numbers->last_number, kAttemptsMax);
  EXPECT_FALSE(job_.Ask({"a", "b"}, Hold::kNo, {}).has_value());
  job_.OnNumbersStored();
  EXPECT_EQ(Ask(Hold::kNo).number, kAttemptsMax + 1);
}

TEST_F(JobCheckpointsTest, AtTheEndNobodyKeepsAnything) {
  Commit(10);
  std::set<std::string> nodes;
  for (const auto& keep : job_.Drop()) {
    EXPECT_TRUE(keep.checkpoints.empty());
    nodes.insert(keep.node);
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"a", "b", "c"}));
}

// ---- Copies that get lost -----------------------------------------------------------------------

TEST_F(JobCheckpointsTest, LacksCopiesWhenAHolderIsLostAndAnotherNodeCouldHoldOne) {
  EXPECT_FALSE(job_.LacksCopies(kThree));  // There is none yet.
  Commit(800);
  EXPECT_EQ(job_.CopiesOfLast(kThree), 2u);
  EXPECT_FALSE(job_.LacksCopies(kThree));
  const LiveNodes without_b = {{"a", ""}, {"c", ""}};
  EXPECT_EQ(job_.CopiesOfLast(without_b), 1u);
  EXPECT_TRUE(job_.LacksCopies(without_b));
  EXPECT_FALSE(job_.LacksCopies(kThree));  // It is back, with what it had.
}

// An order waits until the job has closed its groups.
TEST_F(JobCheckpointsTest, AnImageLongAfterItsOrderHasTotalsOfLittleEarlier) {
  const std::uint64_t number = Ask(Hold::kNo).number;
  proto::JobTotals totals;
  for (std::uint64_t superstep = 1; superstep <= 1000; ++superstep) {
    totals.set_supersteps(superstep);
    EXPECT_TRUE(job_.OnTotals(totals));
  }
  EXPECT_TRUE(CopyAll(StoreAll(number, 990)).commit.has_value());
  job_.OnCommitted(number, 1);
  EXPECT_LE(job_.last()->totals.supersteps(), 990u);
  EXPECT_GE(job_.last()->totals.supersteps(), 980u);
}

TEST_F(JobCheckpointsTest, OneNodeAloneLacksNoCopies) {
  Commit(800);
  std::string has_all;
  for (const char* node : {"a", "b"})
    if (job_.CopiesOfLast({{node, ""}}) == 1) has_all = node;
  ASSERT_FALSE(has_all.empty());
  EXPECT_FALSE(job_.LacksCopies({{has_all, ""}}));
  EXPECT_TRUE(job_.LacksCopies({{has_all, ""}, {"d", ""}}));
}

TEST_F(JobCheckpointsTest, NodeThatComesBackWithoutItsImagesLacksThem) {
  Commit(800);
  job_.OnNodeStores("b", {});
  EXPECT_TRUE(job_.LacksCopies(kThree));
  Commit(900);
  EXPECT_FALSE(job_.LacksCopies(kThree));
}

TEST_F(JobCheckpointsTest, SharedDirectoryLacksNoCopies) {
  const LiveNodes sharing = {{"a", "/share"}, {"b", "/share"}};
  const std::uint64_t number = Ask(Hold::kNo).number;
  job_.OnStored("a", StoredBy(number, 800, {0, 1}), sharing);
  ASSERT_TRUE(job_.OnStored("b", StoredBy(number, 800, {2, 3}), sharing).commit.has_value());
  job_.OnCommitted(number, 1);
  EXPECT_FALSE(job_.LacksCopies({{"b", "/share"}, {"c", "/share"}}));
}

}  // namespace
}  // namespace bspnow::coordinator
