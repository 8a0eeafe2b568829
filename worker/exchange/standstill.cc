#include "worker/exchange/standstill.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace bspnow::worker {
namespace {

/// More is no job's that stands still, but what a program has written.
constexpr std::size_t kWordBytesMax = 1 << 20;

/// What one process waits for, if it is known that it does.
class Waits {
 public:
  Waits(const NodeFacts& facts, const Segment& job, const StandstillParts& parts)
      : facts_(facts), job_(job), parts_(parts) {}

  void Describe(const GroupFacts& group, const MemberFacts& member,
                proto::StandingMember& out) const {
    if (WaitsAtBarrier(group, member)) {
      if (IsAlone(member)) out.set_waits_at(PlaceOf(facts_, group, member));
      return;
    }
    if (group.IsRoot() && group.several_nodes && group.MayGoAhead(member)) {
      if (AllThereAreAlone(group)) out.set_waits_ahead_at(PlaceOf(facts_, group, member));
      return;
    }
    std::vector<std::uint32_t> any_of;
    std::string where;
    if (member.behind != 0 && !group.HasArrived(member)) {
      if (const MemberFacts* const other = AwaitedToBegin(group, member)) any_of = {other->pid};
      where = PlaceOf(facts_, group, member);
    } else if (member.counting != 0 && !group.several_nodes && !group.HasArrived(member)) {
      any_of = Senders(group, member);
      where = PlaceOf(facts_, group, member);
    } else if ((member.room_waits & 1) != 0) {
      any_of = Occupants(member.pid);
      where = kAtRoom;
    }
    if (any_of.empty() || !IsAlone(member)) return;
    out.set_waits_at(where);
    for (const std::uint32_t pid : any_of) out.add_any_of(pid);
  }

 private:
  // By lanes the processes of the root group may go on before a barrier is over, and those that
  // wait for messages may do so at any time. Who has gone on has begun the next superstep, and at
  // the end of that waits for the barrier. With BSP_CHECK=full there are no lanes.
  bool WaitsAtBarrier(const GroupFacts& group, const MemberFacts& member) const {
    if (!group.HasArrived(member)) return false;
    if (!group.IsRoot() || !group.several_nodes || job_.layout().check_full != 0) return true;
    const bool is_back = static_cast<std::uint32_t>(member.counting) == member.started + 1;
    return (member.arrived == member.started && is_back) ||
           (member.arrived == member.started + 1 && member.counting == 0);
  }
  // One of them drives the lanes, and lets the others go.
  bool AllThereAreAlone(const GroupFacts& group) const {
    return std::all_of(group.members.begin(), group.members.end(), [&](const MemberFacts& member) {
      return !member.here || !group.HasArrived(member) || IsAlone(member);
    });
  }
  // A program can write that it waits in thousands of groups.
  bool IsAlone(const MemberFacts& member) const {
    const auto [known, is_new] = alone_.try_emplace(member.pid, false);
    if (is_new) known->second = parts_.has_one_thread(job_.cell(Pid{member.pid}));
    return known->second;
  }

  // None: it has its messages, or is about to end the job with an error.
  std::vector<std::uint32_t> Senders(const GroupFacts& group, const MemberFacts& receiver) const {
    std::vector<std::uint32_t> pids;
    if (MessagesFor(job_, group, receiver) >= receiver.messages) return pids;
    for (const MemberFacts& member : group.members)
      if (&member != &receiver && MaySend(group, member, receiver)) pids.push_back(member.pid);
    return pids;
  }

  // Whoever goes on here may leave a group.
  std::vector<std::uint32_t> Occupants(std::uint32_t pid) const {
    std::vector<std::uint32_t> pids;
    for (const GroupFacts& group : facts_.groups)
      for (const MemberFacts& each : group.members)
        if (group.IsRoot() && each.here && each.pid != pid) pids.push_back(each.pid);
    return pids;
  }

  const NodeFacts& facts_;
  const Segment& job_;
  const StandstillParts& parts_;
  mutable std::map<std::uint32_t, bool> alone_;  // By pid.
};

void AddMembers(const GroupFacts& group, proto::StandingGroup& out) {
  if (group.IsRoot()) return out.set_all_below(static_cast<std::uint32_t>(group.members.size()));
  for (const MemberFacts& member : group.members) out.add_members(member.pid);
}

bool SomebodyWaits(const proto::StandingGroup& group) {
  return std::any_of(group.here().begin(), group.here().end(), [](const auto& member) {
    return !member.waits_at().empty() || !member.waits_ahead_at().empty();
  });
}

}  // namespace

proto::StandStill StandStillOf(const NodeFacts& facts, const Segment& job,
                               const StandstillParts& parts) {
  proto::StandStill said;
  // Of a group that all here have left others may not have heard yet, and the word lacks it.
  if (facts.frees) return said;
  const Waits waits(facts, job, parts);
  for (const GroupFacts& group : facts.groups) {
    proto::StandingGroup& out = *said.add_groups();
    out.set_key(group.key);
    for (const MemberFacts& member : group.members) {
      if (!member.here) continue;
      proto::StandingMember& here = *out.add_here();
      here.set_pid(member.pid);
      here.set_arrived(member.arrived);
      waits.Describe(group, member, here);
    }
    if (!SomebodyWaits(out)) continue;
    AddMembers(group, out);
    if (group.IsRoot() || !group.several_nodes) continue;
    for (const std::uint32_t i : parts.heard_from(group.key, group.released))
      if (i < group.members.size()) out.add_heard(group.members[i].pid);
  }
  if (said.ByteSizeLong() > kWordBytesMax) said.Clear();
  return said;
}

void StandstillWatch::Compare(std::uint64_t number, const proto::StandStill& now) {
  std::string text = now.SerializeAsString();
  if (std::exchange(number_, number) != number || text != before_) standing_ += 1;
  before_ = std::move(text);
}

std::optional<proto::StandStill> StandstillWatch::OnLook(
    std::uint64_t number, const std::function<proto::StandStill()>& describe, std::uint64_t now_ns,
    std::uint64_t patience_ns) {
  if (number != number_) {
    number_ = number;
    standing_ += 1;
    since_ns_ = now_ns;
    before_.clear();
  }
  if (now_ns - since_ns_ < patience_ns) return std::nullopt;
  proto::StandStill now = describe();
  Compare(number, now);
  const bool waits = std::any_of(now.groups().begin(), now.groups().end(), SomebodyWaits);
  if (!waits || said_ == standing_) return std::nullopt;
  said_ = standing_;
  now.set_number(standing_);
  return now;
}

// What it is that is described is not said again: it is the same if its number is.
proto::StandStill StandstillWatch::Answer(std::uint64_t number,
                                          const std::function<proto::StandStill()>& describe,
                                          std::uint64_t look) {
  Compare(number, describe());
  proto::StandStill answer;
  answer.set_number(standing_);
  answer.set_look(look);
  return answer;
}

}  // namespace bspnow::worker
