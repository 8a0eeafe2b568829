#include "coordinator/core/jobs/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

SlotClaim Claim(std::uint32_t nprocs) {
  return SlotClaim{.nprocs = nprocs,
                   .nodes = 0,
                   .per_node = 0,
                   .memory_bytes = 0,
                   .constraints = {},
                   .oversubscribe = false};
}

SchedulerNode Node(std::uint32_t id, std::uint32_t slots) {
  return SchedulerNode{.worker = WorkerId{id},
                       .name = "n" + std::to_string(id),
                       .slots = slots,
                       .memory_bytes = 1 << 30,
                       .load = 0,
                       .labels = {},
                       .drained = false};
}

WaitingClaim Waiting(std::uint64_t job, SlotClaim claim) {
  return WaitingClaim{.place = {.priority = 0, .turn = Turn::kByAge, .job = JobId{job}},
                      .claim = std::move(claim),
                      .time_limit_ns = 0};
}

WaitingClaim Limited(std::uint64_t job, std::uint32_t nprocs, std::uint64_t limit_s) {
  WaitingClaim waiting = Waiting(job, Claim(nprocs));
  waiting.time_limit_ns = limit_s * kSecondNs;
  return waiting;
}

struct RunningJob {
  JobId job;
  std::vector<NodeShare> shares;
  std::uint64_t end_ns;
};

RunningJob Running(std::uint64_t job, std::uint32_t node, std::uint32_t slots,
                   std::uint64_t end_ns) {
  NodeShare share{.worker = WorkerId{node}, .pids = {}, .slots = slots};
  for (std::uint32_t i = 0; i < slots; ++i) share.pids.push_back(Pid{i});
  return RunningJob{.job = JobId{job}, .shares = {share}, .end_ns = end_ns};
}

struct ClusterNow {
  std::uint64_t now_ns = kSecondNs;
  std::vector<SchedulerNode> nodes;
  std::vector<RunningJob> running{};
  std::vector<WaitingClaim> waiting{};  ///< In any order.
};

ClusterNow Cluster(std::vector<SchedulerNode> nodes) { return {.nodes = std::move(nodes)}; }

/// By job.
using Plan = std::map<JobId, Verdict>;

/// One pass over all that wait.
Plan PlanJobs(const ClusterNow& cluster) {
  Situation situation{.now_ns = cluster.now_ns, .nodes = {}, .running = {}};
  for (const RunningJob& each : cluster.running)
    situation.running.push_back(
        {.job = each.job, .shares = &each.shares, .memory_bytes = 0, .end_ns = each.end_ns});
  for (const SchedulerNode& node : cluster.nodes) situation.nodes.push_back(&node);
  std::map<QueuePlace, const WaitingClaim*> queue;
  for (const WaitingClaim& waiting : cluster.waiting) queue[waiting.place] = &waiting;
  Scheduler scheduler(situation);
  Plan plan;
  for (const auto& [place, waiting] : queue)
    if (!scheduler.full()) plan[place.job] = scheduler.Consider(*waiting);
  return plan;
}

const Verdict* StartOf(const Plan& plan, std::uint64_t job) {
  const auto found = plan.find(JobId{job});
  if (found == plan.end() || found->second.kind != Verdict::Kind::kStarts) return nullptr;
  return &found->second;
}

std::size_t Starts(const Plan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.begin(), plan.end(), [](const auto& each) {
    return each.second.kind == Verdict::Kind::kStarts;
  }));
}

std::string ReasonOf(const Plan& plan, std::uint64_t job) { return plan.at(JobId{job}).reason; }

// "n2:3 n1:1": nodes with their processes, in the order of pids.
std::string Shape(const Verdict* start) {
  if (start == nullptr) return "not started";
  std::string shape;
  for (const NodeShare& share : start->shares) {
    shape += "n" + std::to_string(Value(share.worker)) + ":" + std::to_string(share.pids.size());
    shape += " ";
  }
  if (!shape.empty()) shape.pop_back();
  return shape;
}

std::string ShapeOf(const SlotClaim& claim, std::vector<SchedulerNode> nodes) {
  ClusterNow situation = Cluster(std::move(nodes));
  situation.waiting.push_back(Waiting(1, claim));
  return Shape(StartOf(PlanJobs(situation), 1));
}

std::string ReasonFor(const SlotClaim& claim, std::vector<SchedulerNode> nodes) {
  ClusterNow situation = Cluster(std::move(nodes));
  situation.waiting.push_back(Waiting(1, claim));
  return ReasonOf(PlanJobs(situation), 1);
}

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

// ---- Any cluster, any jobs ----------------------------------------------------------------------

class RandomCluster {
 public:
  explicit RandomCluster(std::uint32_t seed) : random_(seed) {
    const std::uint32_t nodes = Up(4);
    for (std::uint32_t i = 1; i <= nodes; ++i) situation_.nodes.push_back(Node(i, Up(6)));
    for (const SchedulerNode& node : situation_.nodes) slots_ += node.slots;
  }

  void Run() {
    for (int step = 0; step < 100; ++step) {
      if (Up(2) == 1) Submit();
      RunPass();
      Advance();
    }
    for (int step = 0; !situation_.waiting.empty(); ++step) {  // Nobody starves.
      ASSERT_LT(step, 1000);
      RunPass();
      Advance();
    }
  }

 private:
  std::uint32_t Up(std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(1, most)(random_);
  }

  void Submit() {
    WaitingClaim waiting = Waiting(next_job_++, Claim(Up(slots_)));
    waiting.place.priority = static_cast<std::int32_t>(Up(2));
    if (Up(2) == 1) waiting.time_limit_ns = Up(20) * kSecondNs;
    if (Up(4) == 1) waiting.claim.per_node = Up(3);
    if (Up(4) == 1) waiting.claim.oversubscribe = true;
    // Only what the cluster can ever run is of interest here.
    if (Fits(waiting)) situation_.waiting.push_back(waiting);
  }

  bool Fits(const WaitingClaim& waiting) {
    ClusterNow empty = situation_;
    empty.running.clear();
    empty.waiting = {waiting};
    return Starts(PlanJobs(empty)) == 1;
  }

  void RunPass() {
    const Plan plan = PlanJobs(situation_);
    ASSERT_EQ(plan.size(), situation_.waiting.size());
    CheckFirstIsNotPassedInVain(plan);
    for (const auto& [job, verdict] : plan)
      if (verdict.kind == Verdict::Kind::kStarts) Begin(job, verdict.shares);
    std::map<WorkerId, std::uint32_t> used;
    for (const RunningJob& running : situation_.running) {
      for (const NodeShare& share : running.shares) used[share.worker] += share.slots;
    }
    for (const SchedulerNode& node : situation_.nodes) {
      ASSERT_LE(used[node.worker], node.slots);
    }
  }

  // The first in the order waits only if it does not fit, though nobody else were waiting.
  void CheckFirstIsNotPassedInVain(const Plan& plan) {
    if (situation_.waiting.empty()) return;
    const auto first = std::min_element(
        situation_.waiting.begin(), situation_.waiting.end(),
        [](const WaitingClaim& a, const WaitingClaim& b) { return a.place < b.place; });
    ClusterNow alone = situation_;
    alone.waiting = {*first};
    ASSERT_EQ(StartOf(plan, Value(first->place.job)) != nullptr, Starts(PlanJobs(alone)) == 1);
  }

  void Begin(JobId job, const std::vector<NodeShare>& shares) {
    const auto waiting =
        std::find_if(situation_.waiting.begin(), situation_.waiting.end(),
                     [&](const WaitingClaim& each) { return each.place.job == job; });
    ASSERT_NE(waiting, situation_.waiting.end());
    std::uint32_t next = 0;
    for (const NodeShare& share : shares) {
      for (const Pid pid : share.pids) ASSERT_EQ(pid, Pid{next++});
      if (waiting->claim.per_node != 0) {
        ASSERT_LE(share.pids.size(), waiting->claim.per_node);
      }
      ASSERT_GE(share.pids.size(), share.slots);
      if (!waiting->claim.oversubscribe) {
        ASSERT_EQ(share.pids.size(), share.slots);
      }
    }
    ASSERT_EQ(next, waiting->claim.nprocs);
    const std::uint64_t limit_ns = waiting->time_limit_ns;
    situation_.running.push_back(
        RunningJob{.job = job,
                   .shares = shares,
                   .end_ns = limit_ns == 0 ? kNoEnd : situation_.now_ns + limit_ns});
    situation_.waiting.erase(waiting);
  }

  // A second passes; jobs past their limits end, and others when they like.
  void Advance() {
    situation_.now_ns += kSecondNs;
    std::erase_if(situation_.running, [&](const RunningJob& running) {
      return running.end_ns <= situation_.now_ns || Up(8) == 1;
    });
  }

  std::mt19937 random_;
  ClusterNow situation_ = Cluster({});
  std::uint32_t slots_ = 0;
  std::uint64_t next_job_ = 1;
};

TEST(SchedulerTest, NeverOversubscribesAndStarvesNobodyInAnyCluster) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomCluster(seed).Run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace bspnow::coordinator
