// Slots that several jobs share: those of an array with a limit, those of a user with a quota.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {

/// What it shares with others. A job keeps its caps as long as it lives.
std::vector<JobTable::Event::Cap> JobTable::Event::CapsOf(const Job& entry) const {
  std::vector<Cap> caps;
  const proto::ArrayElement& array = entry.shown().array();
  if (array.at_once() != 0)
    caps.push_back({.of = absl::StrCat("of array ", array.job()),
                    .wants = 1,
                    .most = array.at_once(),
                    .spares_recovering = false});
  // One that needs more was accepted when that was allowed: it runs alone, and none waits for ever.
  if (table_.quotas_.slots != 0)
    caps.push_back({.of = absl::StrCat("slots for jobs of user ", entry.spec().user()),
                    .wants = entry.spec().nprocs(),
                    .most = std::max(table_.quotas_.slots, entry.spec().nprocs()),
                    .spares_recovering = true});
  return caps;
}

/// By Cap::of: what has been placed.
JobTable::Event::Taken JobTable::Event::TakenNow() const {
  Taken taken;
  for (const JobId id : table_.running_) CountTaken(table_.jobs_.at(id), taken);
  return taken;
}

void JobTable::Event::CountTaken(const Job& entry, Taken& taken) const {
  for (const Cap& cap : CapsOf(entry)) taken[cap.of] += cap.wants;
}

/// Takes it out of the queue if one of its caps is used up, or others of that cap wait before it.
/// With 10,000 elements in the queue each pass would come across them all.
bool JobTable::Event::Hold(Job& entry, const Taken& taken) {
  for (const Cap& cap : CapsOf(entry)) {
    if (cap.spares_recovering && entry.state() == proto::RECOVERING) continue;
    const auto used = taken.find(cap.of);
    const auto before = table_.held_.find(cap.of);
    const bool others = before != table_.held_.end() && *before->second.begin() < *entry.place;
    if (!others && (used == taken.end() ? 0 : used->second) + cap.wants <= cap.most) continue;
    table_.held_[cap.of].insert(table_.queue_.extract(*entry.place));
    entry.shown().set_reason(absl::StrCat("at most ", cap.most, " ", cap.of, " at once"));
    return true;
  }
  return false;
}

/// As many as may have slots now.
void JobTable::Event::ReleaseHeld(Taken taken) {
  for (auto& [of, held] : table_.held_) {
    while (!held.empty()) {
      Job& first = At(held.begin()->job);
      const std::vector<Cap> caps = CapsOf(first);
      const auto cap = std::find_if(caps.begin(), caps.end(),
                                    [&of = of](const Cap& each) { return each.of == of; });
      if (taken[of] + cap->wants > cap->most) break;
      taken[of] += cap->wants;
      first.shown().clear_reason();
      table_.queue_.insert(held.extract(held.begin()));
    }
  }
  std::erase_if(table_.held_, [](const auto& each) { return each.second.empty(); });
}

void JobTable::Event::Unhold(const Job& entry) {
  for (const Cap& cap : CapsOf(entry)) {
    const auto held = table_.held_.find(cap.of);
    if (held == table_.held_.end()) continue;
    held->second.erase(*entry.place);
    if (held->second.empty()) table_.held_.erase(held);
  }
}

}  // namespace bspnow::coordinator
