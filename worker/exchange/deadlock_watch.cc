#include "worker/exchange/deadlock_watch.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <sys/uio.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "worker/exchange/groups_watch.h"

namespace bspnow::worker {
namespace {

bool IsPast(std::uint32_t count, std::uint32_t other) {
  return static_cast<std::int32_t>(count - other) > 0;
}

GroupFacts FactsOf(const Segment& group, std::uint32_t members, const Segment& job) {
  GroupFacts facts{.key = 0,
                   .offset = 0,
                   .released = group.header().barrier.released.value.load(),
                   .members = {}};
  for (std::uint32_t i = 0; i < members; ++i) {
    const ProcessCell& cell = group.cell(Pid{i});
    facts.members.push_back({.pid = &group == &job ? i : cell.member,
                             .here = cell.node == job.header().node,
                             .arrived = cell.arrived.load(),
                             .started = cell.started.value.load(),
                             .announced = cell.announced.value.load(),
                             .counting = cell.counted_wait.superstep.load(),
                             .messages = cell.counted_wait.expected.load()});
  }
  return facts;
}

// A group with members that are none of the job's has been written over by some process.
std::vector<GroupFacts> FactsOf(const NodeSegment& segment) {
  const Segment& job = segment.segment();
  std::vector<GroupFacts> groups;
  groups.push_back(FactsOf(job, segment.participants(), job));
  for (const OpenPart& part : OpenParts(job)) {
    GroupFacts facts = FactsOf(part.segment, part.segment.layout().nprocs, job);
    facts.key = part.key;
    facts.offset = part.offset;
    // Another group's words there may be what this one's were.
    if (part.StaysOpen() &&
        std::all_of(facts.members.begin(), facts.members.end(), [&job](const MemberFacts& member) {
          return member.pid < job.layout().nprocs;
        })) {
      groups.push_back(std::move(facts));
    }
  }
  return groups;
}

/// Looks for those that can go on, and for those that then can, and so on; the others are stuck.
class Search {
 public:
  Search(const Segment& job, const std::vector<GroupFacts>& groups) : job_(job), groups_(groups) {
    for (const GroupFacts& group : groups_) {
      for (const MemberFacts& member : group.members) {
        if (member.here && (HasArrived(group, member) || member.counting != 0))
          waiting_.insert(member.pid);
      }
    }
  }

  std::vector<Pid> Stuck() {
    for (std::size_t before = 0; before != waiting_.size();) {
      before = waiting_.size();
      for (const GroupFacts& group : groups_) TakeOutWhoGoesOn(group);
    }
    std::vector<Pid> stuck;
    for (const std::uint32_t pid : waiting_) stuck.push_back(Pid{pid});
    return stuck;
  }

 private:
  static bool HasArrived(const GroupFacts& group, const MemberFacts& member) {
    return IsPast(member.arrived, group.released);
  }
  bool MayCome(const MemberFacts& member) const {
    return member.here && !waiting_.contains(member.pid);
  }

  /// Who goes on ahead of a barrier (lane.h) has arrived, but as have all others here.
  void TakeOutWhoGoesOn(const GroupFacts& group) {
    const bool may_be_released =
        std::all_of(group.members.begin(), group.members.end(), [&](const MemberFacts& member) {
          return HasArrived(group, member) || !member.here || MayCome(member);
        });
    for (const MemberFacts& member : group.members) {
      if (!member.here) continue;
      if (HasArrived(group, member)) {
        if (may_be_released) waiting_.erase(member.pid);
      } else if (member.counting != 0 && MayHaveItsMessages(group, member)) {
        waiting_.erase(member.pid);
      }
    }
  }

  /// Somebody may still send, or it has them: who has ended the superstep, or waits at its end, has
  /// sent all. (Such a group is on one node.)
  bool MayHaveItsMessages(const GroupFacts& group, const MemberFacts& receiver) const {
    const auto ended = static_cast<std::uint32_t>(receiver.counting);
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](const MemberFacts& member) {
                         return !IsPast(member.started, ended) &&
                                member.counting < receiver.counting && !HasArrived(group, member) &&
                                MayCome(member);
                       }) ||
           Sent(group, receiver) >= receiver.messages;
  }

  std::uint64_t Sent(const GroupFacts& group, const MemberFacts& receiver) const {
    const auto count = static_cast<std::uint32_t>(group.members.size());
    const bool is_root = group.offset == 0;
    const Segment part =
        job_.Part(group.offset, is_root ? job_.layout() : LayOutGroup(job_.layout(), count));
    const Pid to{static_cast<std::uint32_t>(&receiver - group.members.data())};
    const auto parity = static_cast<unsigned>((receiver.counting - 1) & 1);
    std::uint64_t messages = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (part.stamp(Pid{i}, to, parity).load() == receiver.counting)
        messages += part.entry(Pid{i}, to, parity).message_count;
    }
    return messages;
  }

  const Segment& job_;
  const std::vector<GroupFacts>& groups_;
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
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Threads:")) return line == "Threads:\t1";
  return false;
}

// While nothing had changed since: what is read here was so, too.
std::vector<Pid> DeadlockWatch::StuckBefore(const Segment& job) const {
  std::vector<Pid> stuck = Search(job, before_).Stuck();
  const bool alone = std::all_of(stuck.begin(), stuck.end(),
                                 [this, &job](Pid pid) { return has_one_thread_(job.cell(pid)); });
  return alone ? stuck : std::vector<Pid>();
}

std::vector<Pid> DeadlockWatch::OnLook(const NodeSegment& segment) {
  if (said_) return {};
  std::vector<Pid> stuck = StuckBefore(segment.segment());
  std::vector<GroupFacts> now = FactsOf(segment);
  if (now != std::exchange(before_, now)) return {};
  said_ = !stuck.empty();
  return stuck;
}

std::string DeadlockText(const std::vector<Pid>& stuck) {
  return absl::StrCat(
      stuck.size(), " processes, pid ", Value(stuck.front()),
      " among them, wait for each other at the ends of supersteps of different groups, and none can"
      " go on; make groups (bsp_partition, bsp_dup) and end their supersteps in the same order on"
      " all processes");
}

}  // namespace bspnow::worker
