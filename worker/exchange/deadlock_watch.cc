#include "worker/exchange/deadlock_watch.h"

#include <absl/strings/str_cat.h>
#include <sys/uio.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <string>

namespace bspnow::worker {
namespace {

/// Looks for those that can go on, and for those that then can, and so on; the others are stuck.
class Search {
 public:
  Search(const Segment& job, const NodeFacts& facts) : job_(job), facts_(facts) {
    for (const GroupFacts& group : facts.groups) {
      for (const MemberFacts& member : group.members) {
        if (member.here && (group.HasArrived(member) || Counts(group, member) ||
                            member.behind != 0 || (member.room_waits & 1) != 0))
          waiting_.insert(member.pid);
      }
    }
  }

  std::vector<StuckProcess> Stuck() {
    for (std::size_t before = 0; before != waiting_.size();) {
      before = waiting_.size();
      for (const GroupFacts& group : facts_.groups) TakeOutWhoGoesOn(group);
    }
    std::vector<StuckProcess> stuck;
    for (const std::uint32_t pid : waiting_) stuck.push_back(Describe(pid));
    return stuck;
  }

 private:
  // On several nodes it waits for the barrier, too.
  static bool Counts(const GroupFacts& group, const MemberFacts& member) {
    return member.counting != 0 && !group.several_nodes;
  }
  bool MayCome(const MemberFacts& member) const {
    return member.here && !waiting_.contains(member.pid);
  }
  bool IsStuck(const MemberFacts& member) const {
    return member.here && waiting_.contains(member.pid);
  }

  /// Who goes on ahead of a barrier (lane.h) has arrived, but as have all others here.
  void TakeOutWhoGoesOn(const GroupFacts& group) {
    const bool may_be_released =
        std::all_of(group.members.begin(), group.members.end(), [&](const MemberFacts& member) {
          return group.HasArrived(member) || !member.here || MayCome(member);
        });
    for (const MemberFacts& member : group.members) {
      if (!member.here) continue;
      if (group.HasArrived(member)) {
        if (may_be_released) waiting_.erase(member.pid);
      } else if (member.behind != 0) {
        const MemberFacts* const other = AwaitedToBegin(group, member);
        if (other == nullptr || !IsStuck(*other)) waiting_.erase(member.pid);
      } else if (Counts(group, member)) {
        if (MayHaveItsMessages(group, member)) waiting_.erase(member.pid);
      } else if ((member.room_waits & 1) != 0 && MayGetRoom()) {
        waiting_.erase(member.pid);
      }
    }
  }

  /// Somebody may still send, or it has them.
  bool MayHaveItsMessages(const GroupFacts& group, const MemberFacts& receiver) const {
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](const MemberFacts& member) {
                         return MaySend(group, member, receiver) && MayCome(member);
                       }) ||
           MessagesFor(job_, group, receiver) >= receiver.messages;
  }

  /// Room is short for all here, and whoever goes on may leave some group.
  bool MayGetRoom() const {
    return facts_.frees ||
           std::any_of(facts_.groups.begin(), facts_.groups.end(), [this](const GroupFacts& group) {
             return group.IsRoot() && SomeMayLeave(group);
           });
  }
  static bool HasLeft(const GroupFacts& group, std::uint32_t pid) {
    return std::any_of(group.members.begin(), group.members.end(), [pid](const MemberFacts& each) {
      return each.pid == pid && each.here && each.left;
    });
  }
  bool SomeMayLeave(const GroupFacts& group) const {
    return std::any_of(group.members.begin(), group.members.end(),
                       [this](const MemberFacts& each) { return !each.left && MayCome(each); });
  }
  const MemberFacts* SomeStuckWhoHasNotLeft(const GroupFacts& group) const {
    const auto found =
        std::find_if(group.members.begin(), group.members.end(),
                     [this](const MemberFacts& each) { return !each.left && IsStuck(each); });
    return found == group.members.end() ? nullptr : &*found;
  }

  // ---- Who waits for whom

  StuckProcess Describe(std::uint32_t pid) const {
    for (const GroupFacts& group : facts_.groups) {
      for (const MemberFacts& member : group.members) {
        if (member.pid != pid || !member.here) continue;
        if (const auto other = AwaitedBy(group, member))
          return {.pid = pid, .where = PlaceOf(facts_, group, member), .awaits = *other};
      }
    }
    if (WaitsForRoom(pid)) return {.pid = pid, .where = kAtRoom, .awaits = OccupantBeside(pid)};
    // Of messages that nobody can send any more.
    return {.pid = pid, .where = "for messages", .awaits = pid};
  }

  bool WaitsForRoom(std::uint32_t pid) const {
    return std::any_of(facts_.groups.begin(), facts_.groups.end(), [pid](const GroupFacts& group) {
      return std::any_of(group.members.begin(), group.members.end(),
                         [pid](const MemberFacts& each) {
                           return each.pid == pid && each.here && (each.room_waits & 1) != 0;
                         });
    });
  }
  /// One that is in a group which `pid` has left; else any other that is stuck, or itself.
  std::uint32_t OccupantBeside(std::uint32_t pid) const {
    for (const GroupFacts& group : facts_.groups) {
      const MemberFacts* const other = SomeStuckWhoHasNotLeft(group);
      if (HasLeft(group, pid) && other != nullptr) return other->pid;
    }
    const auto other = std::find_if(waiting_.begin(), waiting_.end(),
                                    [pid](std::uint32_t each) { return each != pid; });
    return other == waiting_.end() ? pid : *other;
  }

  std::optional<std::uint32_t> AwaitedBy(const GroupFacts& group, const MemberFacts& member) const {
    const bool arrived = group.HasArrived(member);
    if (!arrived && member.behind != 0) {
      const MemberFacts* const other = AwaitedToBegin(group, member);
      return other == nullptr ? std::nullopt : std::optional(other->pid);
    }
    if (!arrived && !Counts(group, member)) return std::nullopt;
    for (const MemberFacts& other : group.members) {
      const bool lacks = arrived ? !group.HasArrived(other) : MaySend(group, other, member);
      if (lacks && IsStuck(other)) return other.pid;
    }
    return std::nullopt;
  }

  const Segment& job_;
  const NodeFacts& facts_;
  std::set<std::uint32_t> waiting_;
};

}  // namespace

// The number in the cell may be one of another pid namespace, and so another process's here.
bool HasOneThread(const ProcessCell& cell) {
  const std::uint32_t os_pid = cell.os_pid;
  std::uint64_t value = 0;
  const iovec local{&value, sizeof value};
  const iovec remote{reinterpret_cast<void*>(cell.probe_address), sizeof value};
  if (process_vm_readv(static_cast<pid_t>(os_pid), &local, 1, &remote, 1, 0) != sizeof value ||
      value != cell.probe_value) {
    return false;
  }
  std::ifstream file(absl::StrCat("/proc/", os_pid, "/status"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("State:\tT") || line.starts_with("State:\tt")) return false;
    if (line.starts_with("Threads:")) return line == "Threads:\t1";
  }
  return false;
}

// While nothing had changed since: what is read here was so, too.
std::vector<StuckProcess> DeadlockWatch::StuckBefore(const Segment& job) const {
  std::vector<StuckProcess> stuck = Search(job, before_).Stuck();
  const bool alone = std::all_of(
      stuck.begin(), stuck.end(),
      [this, &job](const StuckProcess& each) { return has_one_thread_(job.cell(Pid{each.pid})); });
  return alone ? stuck : std::vector<StuckProcess>();
}

std::vector<StuckProcess> DeadlockWatch::OnLook(const NodeSegment& segment) {
  std::vector<StuckProcess> stuck;
  if (!said_) stuck = StuckBefore(segment.segment());
  NodeFacts now = FactsOf(segment);
  if (now != std::exchange(before_, now)) {
    standstill_ += 1;
    return {};
  }
  said_ |= !stuck.empty();
  return stuck;
}

}  // namespace bspnow::worker
