#include "worker/exchange/group_facts.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/stuck_process.h"
#include "runtime/link/lane_barrier.h"
#include "worker/exchange/groups_watch.h"

namespace bspnow::worker {
namespace {

constexpr int kDepthShownMax = 8;

GroupFacts Collect(const Segment& group, std::uint32_t members, const Segment& job) {
  const bool is_root = &group == &job;
  GroupFacts facts{.key = 0,
                   .parent = 0,
                   .child = 0,
                   .several_nodes = group.header().nodes > 1,
                   .offset = 0,
                   .first_superstep = is_root ? job.header().first_superstep : 0,
                   .released = group.header().barrier.released.value.load(),
                   .ahead = false,
                   .members = {}};
  if (is_root) facts.ahead = LaneBarrier(job.lanes().state, 0, 0).IsAhead(facts.released);
  for (std::uint32_t i = 0; i < members; ++i) {
    const ProcessCell& cell = group.cell(Pid{i});
    facts.members.push_back({.pid = is_root ? i : cell.member,
                             .here = cell.node == job.header().node,
                             .left = !is_root && cell.state.load() == ProcessState::kEnded,
                             .arrived = cell.arrived.load(),
                             .started = cell.started.value.load(),
                             .announced = cell.announced.value.load(),
                             .room_waits = is_root ? cell.room_waits.load() : 0,
                             .counting = cell.counted_wait.superstep.load(),
                             .messages = cell.counted_wait.expected.load(),
                             .behind = cell.counted_wait.behind.load()});
  }
  return facts;
}

// A group with members that are none of the job's has been written over by some process.
bool IsSound(const GroupFacts& group, const Segment& job) {
  return std::all_of(group.members.begin(), group.members.end(), [&job](const MemberFacts& member) {
    return member.pid < job.layout().nprocs;
  });
}

bool WorkerFrees(const Segment& job) {
  const std::uint32_t used = std::min(job.header().groups.used.load(), kGroupSlotsMax);
  for (std::uint32_t i = 0; i < used; ++i)
    if (job.group_slot(i).state.load() == GroupSlot::kLeft) return true;
  return false;
}

const GroupFacts* Find(const NodeFacts& facts, std::uint64_t key) {
  const auto found = std::find_if(facts.groups.begin(), facts.groups.end(),
                                  [key](const GroupFacts& group) { return group.key == key; });
  return found == facts.groups.end() ? nullptr : &*found;
}

}  // namespace

NodeFacts FactsOf(const NodeSegment& segment) {
  const Segment& job = segment.segment();
  NodeFacts facts{.groups = {}, .frees = WorkerFrees(job)};
  facts.groups.push_back(Collect(job, segment.participants(), job));
  for (const OpenPart& part : OpenParts(job)) {
    GroupFacts group = Collect(part.segment, part.segment.layout().nprocs, job);
    group.key = part.key;
    group.parent = part.slot.parent;
    group.child = part.slot.child;
    group.offset = part.offset;
    // Another group's words there may be what this one's were.
    if (part.StaysOpen() && IsSound(group, job)) facts.groups.push_back(std::move(group));
  }
  return facts;
}

bool MaySend(const GroupFacts& group, const MemberFacts& from, const MemberFacts& to) {
  const auto ended = static_cast<std::uint32_t>(to.counting);
  return static_cast<std::int32_t>(from.started - ended) <= 0 && from.counting < to.counting &&
         !group.HasArrived(from) && !from.left;
}

const MemberFacts* AwaitedToBegin(const GroupFacts& group, const MemberFacts& member) {
  const std::uint32_t other = CountedWait::MemberOf(member.behind);
  if (member.behind == 0 || other >= group.members.size()) return nullptr;
  const MemberFacts& awaited = group.members[other];
  const auto begins = static_cast<std::uint32_t>(member.behind);
  return static_cast<std::int32_t>(awaited.started - begins) < 0 ? &awaited : nullptr;
}

std::uint64_t MessagesFor(const Segment& job, const GroupFacts& group,
                          const MemberFacts& receiver) {
  const auto count = static_cast<std::uint32_t>(group.members.size());
  const Segment part =
      job.Part(group.offset, group.IsRoot() ? job.layout() : LayOutGroup(job.layout(), count));
  const Pid to{static_cast<std::uint32_t>(&receiver - group.members.data())};
  const auto parity = static_cast<unsigned>((receiver.counting - 1) & 1);
  std::uint64_t messages = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (part.stamp(Pid{i}, to, parity).load() == receiver.counting)
      messages += part.entry(Pid{i}, to, parity).message_count;
  }
  return messages;
}

// A program may have written anything there: a parent, too, that is the group itself.
std::string NameOf(const NodeFacts& facts, const GroupFacts& group) {
  if (group.IsRoot()) return "the job";
  std::string path;
  const GroupFacts* at = &group;
  for (int depth = 0; at != nullptr && !at->IsRoot() && depth < kDepthShownMax; ++depth) {
    path = path.empty() ? absl::StrCat(at->child) : absl::StrCat(at->child, ".", path);
    at = Find(facts, at->parent);
  }
  std::vector<std::uint32_t> pids;
  for (const MemberFacts& member : group.members) pids.push_back(member.pid);
  return absl::StrCat("group ", path, " (", PidsText(pids), ")");
}

std::string PlaceOf(const NodeFacts& facts, const GroupFacts& group, const MemberFacts& member) {
  if (member.started == 0) return "in bsp_begin";
  if (!group.HasArrived(member) && member.behind != 0) {
    return absl::StrCat("in bsp_oblsync, superstep ", group.first_superstep + member.started - 1,
                        " of ", NameOf(facts, group), ", which others are far behind,");
  }
  return absl::StrCat(group.HasArrived(member) ? "" : "for messages ", "at the end of superstep ",
                      group.first_superstep + member.started - 1, " of ", NameOf(facts, group));
}

}  // namespace bspnow::worker
