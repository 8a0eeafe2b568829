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
    : nodes_(nodes), spans_{Span{.from_ns = now_ns, .by_node = std::vector<Taken>(nodes.size())}} {}

// The span that begins at this time; the one that held it is split if need be.
std::size_t SlotTimeline::SpanFrom(std::uint64_t time_ns) {
  const auto after =
      std::upper_bound(spans_.begin(), spans_.end(), time_ns,
                       [](std::uint64_t time, const Span& span) { return time < span.from_ns; });
  if (after == spans_.begin()) return 0;
  const auto holds = std::prev(after);
  const auto index = static_cast<std::size_t>(holds - spans_.begin());
  if (holds->from_ns == time_ns) return index;
  Span split{.from_ns = time_ns, .by_node = holds->by_node};
  spans_.insert(after, std::move(split));
  return index + 1;
}

void SlotTimeline::Take(const std::vector<NodeShare>& shares,
                        std::uint64_t memory_bytes_per_process, std::uint64_t from_ns,
                        std::uint64_t until_ns) {
  if (until_ns <= from_ns) return;
  const std::size_t first = SpanFrom(from_ns);
  const std::size_t end = SpanFrom(until_ns);
  for (const NodeShare& share : shares) {
    const auto node = std::find_if(nodes_.begin(), nodes_.end(), [&](const SchedulerNode* each) {
      return each->worker == share.worker;
    });
    if (node == nodes_.end()) continue;
    for (std::size_t i = first; i < end; ++i) {
      Taken& taken = spans_[i].by_node[static_cast<std::size_t>(node - nodes_.begin())];
      taken.slots += share.slots;
      taken.memory_bytes += memory_bytes_per_process * share.pids.size();
    }
  }
}

std::vector<FreeNode> SlotTimeline::FreeDuring(std::uint64_t from_ns,
                                               std::uint64_t until_ns) const {
  std::vector<Taken> most(nodes_.size());
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const bool over = i + 1 < spans_.size() && spans_[i + 1].from_ns <= from_ns;
    if (over || spans_[i].from_ns >= until_ns) continue;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      most[n].slots = std::max(most[n].slots, spans_[i].by_node[n].slots);
      most[n].memory_bytes = std::max(most[n].memory_bytes, spans_[i].by_node[n].memory_bytes);
    }
  }
  std::vector<FreeNode> free;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    free.push_back(FreeNode{.node = nodes_[n],
                            .slots = Left(nodes_[n]->slots, most[n].slots),
                            .memory_bytes = Left(nodes_[n]->memory_bytes, most[n].memory_bytes)});
  }
  return free;
}

std::vector<std::uint64_t> SlotTimeline::times() const {
  std::vector<std::uint64_t> times;
  for (const Span& span : spans_) times.push_back(span.from_ns);
  return times;
}

}  // namespace bspnow::coordinator
