#include "coordinator/core/jobs/slot_timeline.h"

#include <algorithm>
#include <iterator>

namespace bspnow::coordinator {
namespace {

template <typename T>
T Left(T all, std::uint64_t taken) {
  return taken < all ? static_cast<T>(all - taken) : T{0};
}

}  // namespace

SlotTimeline::SlotTimeline(const std::vector<const SchedulerNode*>& nodes, std::uint64_t now_ns)
    : nodes_(nodes),
      steps_(nodes.size(), {Step{.from_ns = now_ns, .taken = {}}}),
      changes_{{now_ns, 0}} {}

/// The step that begins at this time; the one that held it is split if need be.
std::size_t SlotTimeline::StepFrom(std::vector<Step>& steps, std::uint64_t time_ns) {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time_ns,
                       [](std::uint64_t time, const Step& step) { return time < step.from_ns; });
  if (after == steps.begin()) return 0;
  const auto holds = std::prev(after);
  const auto index = static_cast<std::size_t>(holds - steps.begin());
  if (holds->from_ns == time_ns) return index;
  steps.insert(after, {.from_ns = time_ns, .taken = holds->taken});
  return index + 1;
}

void SlotTimeline::Take(const std::vector<NodeShare>& shares,
                        std::uint64_t memory_bytes_per_process, std::uint64_t from_ns,
                        std::uint64_t until_ns) {
  Add(shares, {memory_bytes_per_process, from_ns, until_ns, 1});
}

void SlotTimeline::GiveBack(const std::vector<NodeShare>& shares,
                            std::uint64_t memory_bytes_per_process, std::uint64_t from_ns,
                            std::uint64_t until_ns) {
  Add(shares, {memory_bytes_per_process, from_ns, until_ns, -1});
}

void SlotTimeline::Add(const std::vector<NodeShare>& shares, const Use& use) {
  if (use.until_ns <= use.from_ns) return;
  const auto times = static_cast<std::uint64_t>(use.times);  // Of unsigned numbers: modulo 2^64.
  std::int64_t all = 0;
  for (const NodeShare& share : shares) {
    const auto node = std::lower_bound(
        nodes_.begin(), nodes_.end(), share.worker,
        [](const SchedulerNode* each, WorkerId worker) { return each->worker < worker; });
    if (node == nodes_.end() || (*node)->worker != share.worker) continue;
    std::vector<Step>& steps = steps_[static_cast<std::size_t>(node - nodes_.begin())];
    const std::size_t first = StepFrom(steps, use.from_ns);
    const std::size_t end = StepFrom(steps, use.until_ns);
    for (std::size_t i = first; i < end; ++i) {
      steps[i].taken.slots += times * share.slots;
      steps[i].taken.memory_bytes += times * use.memory_bytes_per_process * share.pids.size();
      // A node that rests runs no job.
      steps[i].taken.accounts += share.pids.empty() ? 0 : times;
    }
    all += use.times * share.slots;
  }
  changes_[use.from_ns] += all;
  changes_[use.until_ns] -= all;
}

std::vector<FreeNode> SlotTimeline::FreeDuring(std::uint64_t from_ns,
                                               std::uint64_t until_ns) const {
  std::vector<FreeNode> free;
  free.reserve(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const std::vector<Step>& steps = steps_[n];
    Taken most;
    for (std::size_t i = 0; i < steps.size() && steps[i].from_ns < until_ns; ++i) {
      if (i + 1 < steps.size() && steps[i + 1].from_ns <= from_ns) continue;
      most.slots = std::max(most.slots, steps[i].taken.slots);
      most.memory_bytes = std::max(most.memory_bytes, steps[i].taken.memory_bytes);
      most.accounts = std::max(most.accounts, steps[i].taken.accounts);
    }
    const SchedulerNode& node = *nodes_[n];
    const std::uint32_t accounts = Left(node.accounts, most.accounts);
    const bool full = node.accounts != 0 && accounts == 0;
    free.push_back(FreeNode{.node = &node,
                            .slots = full ? 0 : Left(node.slots, most.slots),
                            .accounts = accounts,
                            .memory_bytes = Left(node.memory_bytes, most.memory_bytes)});
  }
  return free;
}

}  // namespace bspnow::coordinator
