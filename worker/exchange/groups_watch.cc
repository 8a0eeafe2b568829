#include "worker/exchange/groups_watch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace bspnow::worker {

std::vector<OpenPart> OpenParts(const Segment& job) {
  std::vector<OpenPart> parts;
  const std::uint32_t used = std::min(job.header().groups.used.load(), kGroupSlotsMax);
  for (std::uint32_t i = 0; i < used; ++i) {
    const GroupSlot& slot = job.group_slot(i);
    const std::uint64_t key = slot.key;
    const std::uint64_t offset = slot.offset;
    const std::uint32_t members = slot.members;
    if (slot.state.load() != GroupSlot::kOpen || !job.HasPart(offset, members)) continue;
    parts.push_back({key, offset, job.Part(offset, LayOutGroup(job.layout(), members)), slot});
  }
  return parts;
}

GroupsLook LookAtGroups(const NodeSegment& segment) {
  const Segment& job = segment.segment();
  GroupsLook look{.passed = segment.barriers()};
  if (look.passed != 0)
    look.apart = job.header().barrier.phases[(look.passed - 1) & 1].with_groups.load();
  std::set<std::uint32_t> members;
  for (const OpenPart& part : OpenParts(job)) {
    for (std::uint32_t pid = 0; pid < part.segment.layout().nprocs; ++pid) {
      const ProcessCell& cell = part.segment.cell(Pid{pid});
      if (cell.node == job.header().node && cell.state.load() != ProcessState::kEnded)
        members.insert(cell.member);
    }
  }
  look.in_groups = static_cast<std::uint32_t>(members.size());
  return look;
}

std::optional<GroupsWord> GroupsWatch::OnLook(const GroupsLook& look, std::uint64_t now_ns,
                                              std::uint64_t patience_ns) {
  const bool had_chance = std::exchange(chances_, look.image.chances) != look.image.chances;
  const bool could_be_saved =
      (std::exchange(passed_, look.passed) != look.passed && look.apart == 0) || had_chance;
  const bool in_calls = look.in_groups == 0 && look.image.due && look.apart != 0;
  if (could_be_saved || (look.in_groups == 0 && !in_calls)) since_ns_.reset();
  if (!since_ns_ && (look.in_groups != 0 || in_calls)) since_ns_ = now_ns;
  const bool hindered = since_ns_ && now_ns - *since_ns_ >= patience_ns;
  const GroupsWord word =
      hindered ? GroupsWord{look.in_groups, *since_ns_, in_calls} : GroupsWord{};
  const bool again = std::exchange(again_, false) && hindered;
  if (word == said_ && !again) return std::nullopt;
  said_ = word;
  return word;
}

}  // namespace bspnow::worker
