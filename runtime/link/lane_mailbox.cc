// LaneDriver: its sockets, and those of bulk lanes.
#include "runtime/link/lane_driver.h"

namespace bspnow::runtime {

// The first time they lie in the mailbox: the worker puts them there before it turns lanes on.
void LaneDriver::TakeFromMailbox() {
  if (taken_) return;
  taken_ = true;
  BulkPlan plan{.hosts = shape_.hosts};
  for (std::uint32_t i = 0; i < shape_.p; ++i)
    plan.processes[shape_.segment->cell(Pid{i}).node] += 1;
  HandedBulkLanes bulk;
  const LanesTaken taken =
      TakeLanes(mailbox_, {.others = Others(), .bulk_lanes = plan.LanesOf(shape_.self)},
                lanes_of_others_, bulk);
  if (taken == LanesTaken::kNoDescriptors) return GiveUp(LaneFault::kNoDescriptors);
  if (taken != LanesTaken::kAll) return GiveUp(LaneFault::kFailed);
  if (plan.Any()) KeepBulk(plan, bulk);
}

// Those to the processes of one host after the other, by pid.
void LaneDriver::KeepBulk(const BulkPlan& plan, HandedBulkLanes& handed) {
  std::uint32_t own = 0;
  for (std::uint32_t i = 0; i < Value(self_); ++i) own += shape_.segment->IsHere(Pid{i}) ? 1 : 0;
  std::uint32_t from = 0;
  for (std::uint32_t host = 0; host < shape_.hosts; ++host) {
    if (host == shape_.self) continue;
    std::uint32_t there = 0;
    for (std::uint32_t i = 0; i < shape_.p; ++i) {
      if (shape_.segment->cell(Pid{i}).node != host) continue;
      for (std::uint32_t here = 0; here < here_; ++here) {
        UniqueFd& lane = handed.lanes[from + plan.Place(shape_.self, here, host, there)];
        BulkSockets& sockets = here == own ? bulk_ : bulk_near_;
        sockets.of[sockets.count++] = {
            .pid = Pid{i}, .socket = KnownDescriptor::OutOfTheWay(static_cast<UniqueFd&&>(lane))};
      }
      there += 1;
    }
    from += plan.Between(shape_.self, host);
  }
  bulk_.trusted = handed.trusted;
}

bool LaneDriver::HasBulk() {
  if (area_ == nullptr || !barrier_.on() || barrier_.off()) return false;
  TakeFromMailbox();
  return bulk_.count != 0;
}

bool LaneDriver::HasLanes() {
  TakeFromMailbox();
  for (std::uint32_t i = 0; i < Others(); ++i) {
    if (lanes_of_others_[i].StillOurs()) continue;
    GiveUp(LaneFault::kFailed);
    return false;
  }
  return true;
}

}  // namespace bspnow::runtime
