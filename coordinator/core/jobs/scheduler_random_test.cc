// Any cluster, any jobs: nothing is promised twice, and nobody starves.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "coordinator/core/jobs/scheduler_fixture.h"

namespace bspnow::coordinator {
namespace {

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
