#include "tests/simulation/sim_copies.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bspnow {

void SimCopies::Look(const JobTable& table, std::uint64_t now_ns) {
  std::map<std::string, Stay> now;
  for (const JobTable::NodeView& view : table.nodes()) {
    if (view.node->leaving) continue;
    const auto before = stays_.find(view.node->name);
    const bool stays = before != stays_.end() && before->second.worker == view.node->worker;
    now[view.node->name] = stays ? before->second : Stay{view.node->worker, now_ns};
  }
  stays_ = std::move(now);
}

std::string SimCopies::Missed(JobId job, const Checkpoint& taken, std::uint32_t copies) const {
  const auto asked = asked_ns_.find({job, taken.number});
  if (asked == asked_ns_.end()) return "";
  for (const coordinator::CheckpointPart& part : taken.parts) {
    if (!part.share.empty() || part.holders.size() > copies) continue;
    for (const auto& [name, stay] : stays_)
      if (stay.since_ns < asked->second &&
          std::find(part.holders.begin(), part.holders.end(), name) == part.holders.end())
        return name;
  }
  return "";
}

}  // namespace bspnow
