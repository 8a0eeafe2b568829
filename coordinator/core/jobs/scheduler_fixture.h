// What the tests of the scheduler share: nodes, jobs, and one pass over all that wait.
#ifndef COORDINATOR_CORE_JOBS_SCHEDULER_FIXTURE_H_
#define COORDINATOR_CORE_JOBS_SCHEDULER_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/scheduler.h"

namespace bspnow::coordinator {

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;

inline SlotClaim Claim(std::uint32_t nprocs) {
  return SlotClaim{.nprocs = nprocs,
                   .nodes = 0,
                   .per_node = 0,
                   .memory_bytes = 0,
                   .constraints = {},
                   .oversubscribe = false};
}

inline SchedulerNode Node(std::uint32_t id, std::uint32_t slots) {
  return SchedulerNode{.worker = WorkerId{id},
                       .name = "n" + std::to_string(id),
                       .slots = slots,
                       .memory_bytes = 1 << 30,
                       .load = 0,
                       .labels = {},
                       .drained = false};
}

inline WaitingClaim Waiting(std::uint64_t job, SlotClaim claim) {
  return WaitingClaim{.place = {.priority = 0, .turn = Turn::kByAge, .job = JobId{job}},
                      .claim = std::move(claim),
                      .time_limit_ns = 0};
}

inline WaitingClaim Limited(std::uint64_t job, std::uint32_t nprocs, std::uint64_t limit_s) {
  WaitingClaim waiting = Waiting(job, Claim(nprocs));
  waiting.time_limit_ns = limit_s * kSecondNs;
  return waiting;
}

struct RunningJob {
  JobId job;
  std::vector<NodeShare> shares;
  std::uint64_t end_ns;
};

inline RunningJob Running(std::uint64_t job, std::uint32_t node, std::uint32_t slots,
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

inline ClusterNow Cluster(std::vector<SchedulerNode> nodes) { return {.nodes = std::move(nodes)}; }

/// By job.
using Plan = std::map<JobId, Verdict>;

/// One pass over all that wait.
inline Plan PlanJobs(const ClusterNow& cluster) {
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

inline const Verdict* StartOf(const Plan& plan, std::uint64_t job) {
  const auto found = plan.find(JobId{job});
  if (found == plan.end() || found->second.kind != Verdict::Kind::kStarts) return nullptr;
  return &found->second;
}

inline std::size_t Starts(const Plan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.begin(), plan.end(), [](const auto& each) {
    return each.second.kind == Verdict::Kind::kStarts;
  }));
}

inline std::string ReasonOf(const Plan& plan, std::uint64_t job) {
  return plan.at(JobId{job}).reason;
}

// "n2:3 n1:1": nodes with their processes, in the order of pids.
inline std::string Shape(const Verdict* start) {
  if (start == nullptr) return "not started";
  std::string shape;
  for (const NodeShare& share : start->shares) {
    shape += "n" + std::to_string(Value(share.worker)) + ":" + std::to_string(share.pids.size());
    shape += " ";
  }
  if (!shape.empty()) shape.pop_back();
  return shape;
}

inline std::string ShapeOf(const SlotClaim& claim, std::vector<SchedulerNode> nodes) {
  ClusterNow situation = Cluster(std::move(nodes));
  situation.waiting.push_back(Waiting(1, claim));
  return Shape(StartOf(PlanJobs(situation), 1));
}

inline std::string ReasonFor(const SlotClaim& claim, std::vector<SchedulerNode> nodes) {
  ClusterNow situation = Cluster(std::move(nodes));
  situation.waiting.push_back(Waiting(1, claim));
  return ReasonOf(PlanJobs(situation), 1);
}

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_SCHEDULER_FIXTURE_H_
