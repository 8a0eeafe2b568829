#include "worker/exchange/group_reader.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>

namespace bspnow::worker {
namespace {

GroupWords Read(const GroupSlot& slot) {
  GroupWords words{.state = slot.state.load(std::memory_order_acquire),
                   .members = ReadOnce(slot.members),
                   .key = ReadOnce(slot.key),
                   .offset = ReadOnce(slot.offset),
                   .bytes = ReadOnce(slot.bytes),
                   .nodes = ReadOnce(slot.nodes)};
  std::atomic_thread_fence(std::memory_order_acquire);
  return words;
}

absl::Status Damaged(const char* what, std::uint64_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat("a process has damaged the communication memory: a group ", what, " ", value));
}

absl::Status CheckPlace(const Segment& job, const OpenGroup& group,
                        std::span<const OpenGroup> open) {
  const std::uint64_t bytes = group.bytes();
  if (!job.HasPart(group.offset, group.layout.nprocs)) return Damaged("at", group.offset);
  for (const OpenGroup& other : open) {
    if (other.id == group.id) return Damaged("twice, of key", Value(group.id));
    if (other.offset < group.offset + bytes && group.offset < other.offset + other.bytes())
      return Damaged("within another one, at", group.offset);
  }
  return absl::OkStatus();
}

absl::Status ReadMembers(const Segment& part, const JobShape& shape, OpenGroup& group) {
  for (std::uint32_t pid = 0; pid < group.layout.nprocs; ++pid) {
    const std::uint32_t member = ReadOnce(part.cell(Pid{pid}).member);
    if (member >= shape.participants || (pid != 0 && member <= group.members.back()))
      return Damaged("with a member", member);
    group.members.push_back(member);
    group.hosts[shape.host_of[member]].push_back(Pid{pid});
  }
  const auto spread = std::count_if(group.hosts.begin(), group.hosts.end(),
                                    [](const std::vector<Pid>& pids) { return !pids.empty(); });
  if (group.hosts[shape.self].empty())
    return Damaged("without a member here, of key", Value(group.id));
  return spread < 2 ? Damaged("of several nodes on one, of key", Value(group.id))
                    : absl::OkStatus();
}

}  // namespace

// What is the same twice, with the same state before, between and after, was not being changed: a
// slot is free while it is filled.
std::optional<GroupWords> CopySlot(const GroupSlot& slot) {
  const GroupWords words = Read(slot);
  if (words.state != GroupSlot::kOpen && words.state != GroupSlot::kLeft) return std::nullopt;
  if (!(Read(slot) == words) || slot.state.load(std::memory_order_relaxed) != words.state)
    return std::nullopt;
  return words.nodes > 1 ? std::optional(words) : std::nullopt;
}

absl::StatusOr<OpenGroup> ReadGroup(const Segment& job, const JobShape& shape,
                                    const GroupWords& words, std::span<const OpenGroup> open) {
  if (words.members < 2 || words.members > shape.participants)
    return Damaged("of members", words.members);
  OpenGroup group{.id = GroupId{words.key},
                  .offset = words.offset,
                  .layout = LayOutGroup(job.layout(), words.members)};
  group.hosts.resize(shape.hosts.size());
  if (group.id == kRootGroup) return Damaged("of key", words.key);
  if (words.bytes != group.bytes()) return Damaged("of bytes", words.bytes);
  if (absl::Status s = CheckPlace(job, group, open); !s.ok()) return s;
  const Segment part = job.Part(group.offset, group.layout);
  if (absl::Status s = ReadMembers(part, shape, group); !s.ok()) return s;
  return group;
}

}  // namespace bspnow::worker
