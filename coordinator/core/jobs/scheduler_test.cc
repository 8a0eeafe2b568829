#include "coordinator/core/jobs/scheduler.h"

#include <gtest/gtest.h>

#include "coordinator/core/jobs/scheduler_fixture.h"

namespace bspnow::coordinator {
namespace {

// ---- Where --------------------------------------------------------------------------------------

TEST(SchedulerTest, AnyNumberOfJobsThatCanNeverStartHoldsUpNobody) {
  ClusterNow cluster = Cluster({Node(1, 2)});
  for (std::uint64_t job = 1; job <= 2 * kBackfillDepth; ++job)
    cluster.waiting.push_back(Waiting(job, Claim(3)));
  cluster.waiting.push_back(Waiting(1000, Claim(2)));
  EXPECT_NE(StartOf(PlanJobs(cluster), 1000), nullptr);
}

TEST(SchedulerTest, FillsNodesInBlocksOfPids) {
  ClusterNow situation = Cluster({Node(1, 2), Node(2, 2), Node(3, 2)});
  situation.waiting.push_back(Waiting(1, Claim(5)));
  const Plan plan = PlanJobs(situation);
  ASSERT_EQ(Shape(StartOf(plan, 1)), "n1:2 n2:2 n3:1");
  std::uint32_t next = 0;
  for (const NodeShare& share : StartOf(plan, 1)->shares) {
    for (const Pid pid : share.pids) EXPECT_EQ(pid, Pid{next++});
  }
  EXPECT_EQ(next, 5u);
}

TEST(SchedulerTest, TakesTheNodeWithTheLeastPartInUseFirst) {
  ClusterNow situation = Cluster({Node(1, 4), Node(2, 4)});
  situation.running.push_back(Running(1, 1, 2, kNoEnd));
  situation.waiting.push_back(Waiting(2, Claim(2)));
  EXPECT_EQ(Shape(StartOf(PlanJobs(situation), 2)), "n2:2");
}

TEST(SchedulerTest, TakesTheLeastLoadedMachineAmongEqualNodes) {
  std::vector<SchedulerNode> nodes{Node(1, 4), Node(2, 4)};
  nodes[0].load = 3.5;
  EXPECT_EQ(ShapeOf(Claim(2), nodes), "n2:2");
}

TEST(SchedulerTest, PlacesNoMoreJobsOnANodeThanItHasAccounts) {
  ClusterNow cluster = Cluster({Node(1, 8)});
  cluster.nodes[0].accounts = 2;
  cluster.running.push_back(Running(1, 1, 2, 5 * kSecondNs));
  for (const std::uint64_t job : {2, 3}) cluster.waiting.push_back(Waiting(job, Claim(2)));
  const Plan plan = PlanJobs(cluster);
  EXPECT_EQ(Shape(StartOf(plan, 2)), "n1:2");
  EXPECT_EQ(StartOf(plan, 3), nullptr);
  EXPECT_EQ(ReasonOf(plan, 3), "needs 2 slots, 0 free; all accounts of node n1 are in use");
  cluster.nodes.push_back(Node(2, 2));
  EXPECT_EQ(Starts(PlanJobs(cluster)), 2u);
}

TEST(SchedulerTest, PromisesAnAccountWhenOneIsFree) {
  ClusterNow cluster = Cluster({Node(1, 8)});
  cluster.nodes[0].accounts = 1;
  cluster.running.push_back(Running(1, 1, 2, 5 * kSecondNs));
  for (const std::uint64_t job : {2, 3}) cluster.waiting.push_back(Limited(job, 2, 1));
  EXPECT_EQ(Starts(PlanJobs(cluster)), 0u);
  cluster.now_ns = 6 * kSecondNs;
  cluster.running.clear();
  EXPECT_NE(StartOf(PlanJobs(cluster), 2), nullptr);
  EXPECT_EQ(StartOf(PlanJobs(cluster), 3), nullptr);
}

TEST(SchedulerTest, ANodeThatRestsHasItsAccounts) {
  ClusterNow cluster = Cluster({Node(1, 8)});
  cluster.nodes[0].accounts = 1;
  cluster.nodes[0].rests_until_ns = 5 * kSecondNs;
  cluster.waiting.push_back(Waiting(1, Claim(2)));
  EXPECT_EQ(ReasonOf(PlanJobs(cluster), 1),
            "needs 2 slots, 0 free; node n1 rests: `bsp nodes` says why");
}

TEST(SchedulerTest, SpreadsEvenlyOverExactlyTheNodesAskedFor) {
  SlotClaim claim = Claim(7);
  claim.nodes = 3;
  EXPECT_EQ(ShapeOf(claim, {Node(1, 8), Node(2, 8), Node(3, 8), Node(4, 8)}), "n1:3 n2:2 n3:2");
  claim.nprocs = 4;
  EXPECT_EQ(ShapeOf(claim, {Node(1, 8), Node(2, 8), Node(3, 8)}), "n1:2 n2:1 n3:1");
}

// `from` cannot reach `to`.
void Part(std::vector<SchedulerNode>& nodes, std::size_t from, std::size_t to) {
  nodes[from - 1].unreachable[nodes[to - 1].worker] = "no answer";
}

TEST(SchedulerTest, PlacesNoJobOnTwoNodesOfWhichEitherCannotReachTheOther) {
  for (const auto& [from, to] : {std::pair{1, 2}, std::pair{2, 1}}) {
    std::vector<SchedulerNode> nodes{Node(1, 2), Node(2, 2), Node(3, 2)};
    Part(nodes, from, to);
    EXPECT_EQ(ShapeOf(Claim(4), nodes), "n1:2 n3:2");
    EXPECT_EQ(ShapeOf(Claim(2), nodes), "n1:2");
    nodes.pop_back();
    EXPECT_EQ(ReasonFor(Claim(4), nodes), "nodes n" + std::to_string(from) + " and n" +
                                              std::to_string(to) +
                                              " do not reach each other: no answer");
    EXPECT_EQ(ShapeOf(Claim(2), nodes), "n1:2");
  }
}

TEST(SchedulerTest, ANodeThatNobodyReachesGetsJobsThatFitOnIt) {
  std::vector<SchedulerNode> nodes{Node(1, 4), Node(2, 2), Node(3, 2), Node(4, 2)};
  for (const std::size_t other : {2, 3, 4}) Part(nodes, other, 1);
  EXPECT_EQ(ShapeOf(Claim(5), nodes), "n2:2 n3:2 n4:1");
  EXPECT_EQ(ShapeOf(Claim(4), nodes), "n1:4");
  SlotClaim two = Claim(4);
  two.nodes = 2;
  EXPECT_EQ(ShapeOf(two, nodes), "n2:2 n3:2");
  SlotClaim shared = Claim(12);
  shared.oversubscribe = true;
  EXPECT_EQ(ShapeOf(shared, nodes), "n2:4 n3:4 n4:4");
}

TEST(SchedulerTest, AJobRunsInTheHalfOfACutNetworkWhichHasTheSlots) {
  std::vector<SchedulerNode> nodes{Node(1, 1), Node(2, 1), Node(3, 3), Node(4, 3)};
  for (const std::size_t a : {1, 2})
    for (const std::size_t b : {3, 4}) Part(nodes, a, b);
  EXPECT_EQ(ShapeOf(Claim(2), nodes), "n1:1 n2:1");
  EXPECT_EQ(ShapeOf(Claim(6), nodes), "n3:3 n4:3");
}

TEST(SchedulerTest, WhatWaitsForTwoNodesToReachEachOtherHoldsUpNobody) {
  ClusterNow cluster = Cluster({Node(1, 2), Node(2, 2)});
  Part(cluster.nodes, 1, 2);
  cluster.waiting = {Waiting(1, Claim(4)), Waiting(2, Claim(2))};
  EXPECT_EQ(Shape(StartOf(PlanJobs(cluster), 2)), "n1:2");
}

TEST(SchedulerTest, SaysThatTheFreeNodesDoNotReachEachOther) {
  ClusterNow cluster = Cluster({Node(1, 2), Node(2, 2), Node(3, 2)});
  Part(cluster.nodes, 2, 1);
  cluster.running.push_back(Running(1, 3, 2, kNoEnd));
  cluster.waiting.push_back(Waiting(2, Claim(4)));
  EXPECT_EQ(ReasonOf(PlanJobs(cluster), 2),
            "needs 4 slots, 2 free; nodes n2 and n1 do not reach each other: no answer");
}

TEST(SchedulerTest, ChoosesTheLargeNodesIfTheLeastLoadedAreTooSmall) {
  SlotClaim claim = Claim(8);
  claim.nodes = 2;
  EXPECT_EQ(ShapeOf(claim, {Node(1, 1), Node(2, 6), Node(3, 6)}), "n2:4 n3:4");
}

TEST(SchedulerTest, KeepsToTheProcessesANodeAskedFor) {
  SlotClaim claim = Claim(3);
  claim.per_node = 1;
  EXPECT_EQ(ShapeOf(claim, {Node(1, 4), Node(2, 4), Node(3, 4)}), "n1:1 n2:1 n3:1");
  EXPECT_EQ(ReasonFor(claim, {Node(1, 4), Node(2, 4)}),
            "needs 3 slots, at most 1 a node; the cluster has 2 such slots");
}

TEST(SchedulerTest, OversubscribesOnlyWhenAsked) {
  SlotClaim claim = Claim(7);
  EXPECT_EQ(ReasonFor(claim, {Node(1, 2), Node(2, 2)}),
            "needs 7 slots, the cluster has 4: start more workers or use --oversubscribe");
  claim.oversubscribe = true;
  EXPECT_EQ(ShapeOf(claim, {Node(1, 2), Node(2, 2)}), "n1:4 n2:3");
}

TEST(SchedulerTest, OversubscribesInProportionToSlots) {
  SlotClaim claim = Claim(20);
  claim.oversubscribe = true;
  EXPECT_EQ(ShapeOf(claim, {Node(1, 8), Node(2, 2)}), "n1:16 n2:4");
}

TEST(SchedulerTest, AnOversubscribingJobStillWaitsForItsOwnSlots) {
  ClusterNow situation = Cluster({Node(1, 2)});
  situation.running.push_back(Running(1, 1, 1, kNoEnd));
  SlotClaim claim = Claim(4);
  claim.oversubscribe = true;
  situation.waiting.push_back(Waiting(2, claim));
  EXPECT_EQ(ReasonOf(PlanJobs(situation), 2), "needs 2 slots, 1 free");
}

TEST(SchedulerTest, CountsMemoryWhereItIsAskedFor) {
  SlotClaim claim = Claim(4);
  claim.memory_bytes = std::uint64_t{512} << 20;
  EXPECT_EQ(ShapeOf(claim, {Node(1, 4), Node(2, 4)}), "n1:2 n2:2");
  EXPECT_EQ(ReasonFor(claim, {Node(1, 4)}),
            "needs 4 slots, with 512.0 MiB for each process; the cluster has 2 such slots");
}

TEST(SchedulerTest, UsesOnlyNodesWithTheLabels) {
  std::vector<SchedulerNode> nodes{Node(1, 4), Node(2, 4)};
  nodes[1].labels["gpu"] = "a100";
  SlotClaim claim = Claim(2);
  claim.constraints = {"gpu"};
  EXPECT_EQ(ShapeOf(claim, nodes), "n2:2");
  claim.constraints = {"gpu=a100"};
  EXPECT_EQ(ShapeOf(claim, nodes), "n2:2");
  claim.constraints = {"gpu=h100"};
  EXPECT_EQ(ReasonFor(claim, nodes), "no node has label gpu=h100");
}

TEST(SchedulerTest, UsesNoDrainedNode) {
  std::vector<SchedulerNode> nodes{Node(1, 4)};
  nodes[0].drained = true;
  EXPECT_EQ(ReasonFor(Claim(1), nodes), "all nodes are drained");
  EXPECT_EQ(ReasonFor(Claim(1), {}), "no worker is up");
}

TEST(SchedulerTest, NamesTheDrainedNodesThatAJobLacks) {
  std::vector<SchedulerNode> nodes{Node(1, 4), Node(2, 4), Node(3, 4)};
  nodes[1].drained = nodes[2].drained = true;
  nodes[2].labels["gpu"] = "a100";
  EXPECT_EQ(ReasonFor(Claim(7), nodes),
            "needs 7 slots, the cluster has 4 (nodes n2, n3 are drained): start more workers or "
            "use --oversubscribe");
  SlotClaim claim = Claim(2);
  claim.nodes = 2;
  EXPECT_EQ(ReasonFor(claim, nodes), "needs 2 nodes, the cluster has 1 (nodes n2, n3 are drained)");
  claim.constraints = {"gpu"};
  EXPECT_EQ(ReasonFor(claim, nodes), "no node has label gpu (node n3 is drained)");
  claim = Claim(2);
  claim.per_node = 1;
  EXPECT_EQ(ReasonFor(claim, nodes),
            "needs 2 slots, at most 1 a node; the cluster has 1 such slots (nodes n2, n3 are "
            "drained)");
}

TEST(SchedulerTest, SaysWhatIsMissing) {
  SlotClaim claim = Claim(3);
  claim.nodes = 3;
  EXPECT_EQ(ReasonFor(claim, {Node(1, 4), Node(2, 4)}), "needs 3 nodes, the cluster has 2");
  ClusterNow situation = Cluster({Node(1, 8)});
  situation.running.push_back(Running(1, 1, 5, kNoEnd));
  situation.waiting.push_back(Waiting(2, Claim(8)));
  EXPECT_EQ(ReasonOf(PlanJobs(situation), 2), "needs 8 slots, 3 free");
}

// ---- When ---------------------------------------------------------------------------------------

TEST(SchedulerTest, FirstComeFirstServed) {
  ClusterNow situation = Cluster({Node(1, 4)});
  situation.waiting = {Waiting(2, Claim(3)), Waiting(1, Claim(3))};
  const Plan plan = PlanJobs(situation);
  EXPECT_NE(StartOf(plan, 1), nullptr);
  EXPECT_EQ(StartOf(plan, 2), nullptr);
}

TEST(SchedulerTest, AHigherPriorityComesFirst) {
  ClusterNow situation = Cluster({Node(1, 4)});
  situation.waiting = {Waiting(1, Claim(3)), Waiting(2, Claim(4)), Waiting(3, Claim(1))};
  situation.waiting[1].place.priority = 1;
  situation.running.push_back(Running(9, 1, 1, kNoEnd));
  const Plan plan = PlanJobs(situation);
  EXPECT_EQ(Starts(plan), 0u);
  EXPECT_EQ(ReasonOf(plan, 2), "needs 4 slots, 3 free");
  EXPECT_EQ(ReasonOf(plan, 1), "waits for job 2, which has a higher priority");
  EXPECT_EQ(ReasonOf(plan, 3), "waits for job 2, which has a higher priority");
}

TEST(SchedulerTest, AJobThatEndsInTimeMayPass) {
  ClusterNow situation = Cluster({Node(1, 4)});
  situation.running.push_back(Running(1, 1, 2, situation.now_ns + 60 * kSecondNs));
  situation.waiting = {Waiting(2, Claim(4)), Limited(3, 1, 61), Limited(4, 1, 60)};
  const Plan plan = PlanJobs(situation);
  EXPECT_EQ(StartOf(plan, 2), nullptr);
  EXPECT_EQ(ReasonOf(plan, 3), "waits for job 2, which was submitted before");
  EXPECT_NE(StartOf(plan, 4), nullptr);
}

TEST(SchedulerTest, AJobOnSlotsThatNobodyNeedsMayPass) {
  ClusterNow situation = Cluster({Node(1, 8)});
  situation.running.push_back(Running(1, 1, 5, kNoEnd));
  situation.waiting = {Waiting(2, Claim(6)), Waiting(3, Claim(2)), Waiting(4, Claim(1))};
  const Plan plan = PlanJobs(situation);
  EXPECT_EQ(StartOf(plan, 2), nullptr);
  EXPECT_NE(StartOf(plan, 3), nullptr);  // 6 and 2 fit beside each other when job 1 has ended,
  EXPECT_EQ(StartOf(plan, 4), nullptr);  // and nothing else.
}

TEST(SchedulerTest, PassingJobsDoNotAddUpWhileAJobWithoutALimitRuns) {
  ClusterNow situation = Cluster({Node(1, 8)});
  situation.running.push_back(Running(1, 1, 5, kNoEnd));
  situation.running.push_back(Running(3, 1, 2, kNoEnd));  // Has passed already.
  situation.waiting = {Waiting(2, Claim(6)), Waiting(4, Claim(1)), Limited(5, 1, 1)};
  EXPECT_EQ(Starts(PlanJobs(situation)), 0u);
}

TEST(SchedulerTest, AJobTooLargeForTheClusterHoldsUpNobody) {
  ClusterNow situation = Cluster({Node(1, 4)});
  situation.waiting = {Waiting(1, Claim(5)), Waiting(2, Claim(4))};
  EXPECT_NE(StartOf(PlanJobs(situation), 2), nullptr);
}

TEST(SchedulerTest, PassesOnlyWhereNoneOfThoseBeforeIsDelayed) {
  ClusterNow situation = Cluster({Node(1, 4)});
  situation.running.push_back(Running(1, 1, 3, situation.now_ns + 60 * kSecondNs));
  // Job 2 starts at 60 s on all slots, job 3 after it; job 4 could delay only job 3.
  situation.waiting = {Limited(2, 4, 60), Limited(3, 2, 60), Limited(4, 1, 60)};
  const Plan plan = PlanJobs(situation);
  EXPECT_NE(StartOf(plan, 4), nullptr);
  situation.waiting[2] = Limited(4, 1, 61);
  EXPECT_EQ(StartOf(PlanJobs(situation), 4), nullptr);
}

/// Job 2 needs a slot on both nodes; a job on the one has a long time to go, `moments` jobs on the
/// other end one after the other. Job 3 could pass.
ClusterNow FullOfMoments(std::uint32_t moments) {
  ClusterNow situation = Cluster({Node(1, moments + 1), Node(2, 1)});
  for (std::uint32_t i = 0; i < moments; ++i)
    situation.running.push_back(Running(100 + i, 1, 1, situation.now_ns + (10 + i) * kSecondNs));
  situation.running.push_back(Running(1, 2, 1, situation.now_ns + 100'000 * kSecondNs));
  SlotClaim both = Claim(2);
  both.nodes = 2;
  situation.waiting = {Waiting(2, both), Limited(3, 1, 1), Waiting(4, Claim(moments))};
  return situation;
}

// A moment is tried when there are as many slots, though not where they should be.
TEST(SchedulerTest, NobodyPassesOneWhoseMomentIsNotFoundAmong512) {
  const Plan found = PlanJobs(FullOfMoments(500));
  EXPECT_NE(StartOf(found, 3), nullptr);
  EXPECT_TRUE(found.contains(JobId{4}));
  const Plan tired = PlanJobs(FullOfMoments(520));
  EXPECT_EQ(ReasonOf(tired, 2), "needs 2 slots, 1 free");
  EXPECT_EQ(ReasonOf(tired, 3), "waits for job 2, which was submitted before");
  EXPECT_FALSE(tired.contains(JobId{4}));  // The pass is over.
}

/// Of so many jobs before it that must wait; it could pass.
Plan PlanOfJobAfter(std::uint64_t waiting) {
  ClusterNow situation = Cluster({Node(1, 4)});
  situation.running.push_back(Running(1, 1, 2, situation.now_ns + 60 * kSecondNs));
  for (std::uint64_t i = 0; i < waiting; ++i)
    situation.waiting.push_back(Waiting(100 + i, Claim(4)));
  for (std::uint64_t i = 0; i < kBackfillDepth; ++i)
    situation.waiting.push_back(Waiting(10 + i, Claim(5)));  // Never: these take no place.
  situation.waiting.push_back(Limited(1'000, 1, 1));
  return PlanJobs(situation);
}

TEST(SchedulerTest, TheLastOf64JobsMayPassAndTheNextIsNotLookedAt) {
  EXPECT_NE(StartOf(PlanOfJobAfter(63), 1'000), nullptr);
  const Plan full = PlanOfJobAfter(64);
  EXPECT_TRUE(full.contains(JobId{100 + 63}));
  EXPECT_FALSE(full.contains(JobId{1'000}));
}

}  // namespace
}  // namespace bspnow::coordinator
