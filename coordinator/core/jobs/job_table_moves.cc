// Jobs that leave a node which is drained, or whose worker is about to end.
#include <algorithm>

#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {

JobTable::SpareRoom::SpareRoom(std::vector<const SchedulerNode*> open)
    : whole(SlotTimeline(open, 0).FreeDuring(0, 1)), taken(open, 0) {}

JobTable::SpareRoom JobTable::SpareRoomNow() const {
  std::vector<const SchedulerNode*> open;
  for (const auto& [worker, node] : nodes_->up())
    if (node->usable() && node->open()) open.push_back(node);
  SpareRoom room(std::move(open));
  for (const JobId id : running_) {
    const Job& entry = jobs_.at(id);
    room.taken.Take(entry.shares, entry.claim.memory_bytes, 0, 1);
  }
  return room;
}

bool JobTable::ShouldMove(JobId job, SpareRoom& room) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return false;
  const std::vector<NodeShare>& shares = found->second.shares;
  const SlotClaim& claim = found->second.claim;
  const auto leaves = [this](const NodeShare& share) {
    const Node* const node = nodes_->Find(share.worker);
    return node != nullptr && node->leaving;
  };
  if (std::any_of(shares.begin(), shares.end(), leaves)) return true;
  room.taken.GiveBack(shares, claim.memory_bytes, 0, 1);
  const bool has_room =
      Place(claim, SlotsNeeded(claim, room.whole), room.taken.FreeDuring(0, 1)).has_value();
  room.taken.Take(shares, claim.memory_bytes, 0, 1);
  return has_room;
}

JobOrders JobTable::OnMove(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || !entry->started || entry->state() != proto::RUNNING) return {};
  if (entry->interrupted || entry->record.took_input()) return {};
  // The drain may have been undone meanwhile.
  const auto is_closed = [this](const NodeShare& share) {
    const Node* const node = nodes_->Find(share.worker);
    return node != nullptr && !node->open();
  };
  if (std::none_of(entry->shares.begin(), entry->shares.end(), is_closed)) return {};
  if (SpareRoom room = SpareRoomNow(); !ShouldMove(job, room)) return {};
  entry->shown().set_reason("moves to other nodes");
  event.StartOver(*entry);
  return event.Take();
}

}  // namespace bspnow::coordinator
