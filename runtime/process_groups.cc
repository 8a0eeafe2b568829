// Process, as far as groups go: they are made and left without communication. See "Groups" in
// docs/design.md; the calls that they serve are bsp_partition, bsp_dup and bsp_done of PUB
// (Bonorden et al. 2003, section 2.4).
#include <unistd.h>

#include <new>

#include "runtime/link/group_slots.h"
#include "runtime/link/report.h"
#include "runtime/process.h"

namespace bspnow::runtime {
namespace {

// Spreads all bits over all (the finalizer of splitmix64), so that keys that differ anywhere differ
// everywhere.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

// What all members know alike. One number a level would not do: a fast process may be in the second
// child of a group while a slow one is in the first.
std::uint64_t KeyOfChild(std::uint64_t parent, std::uint64_t child, std::uint32_t part) {
  const std::uint64_t key = Mix(Mix(Mix(parent) ^ child) ^ part);
  return key == 0 ? 1 : key;
}

}  // namespace

Group& Process::Partition(Group& parent, const std::uint32_t* parts) {
  return Open(parent, parent.CountChild(), parts, parts[Value(parent.self())]);
}

Group& Process::Duplicate(Group& parent) { return Open(parent, parent.CountChild(), nullptr, 0); }

// `parts` null: all. No other group of the parent has this child's number and part.
Group& Process::Open(Group& parent, std::uint64_t child, const std::uint32_t* parts,
                     std::uint32_t part) {
  GrowArray<std::uint32_t>& members = parent.child_members();
  members.clear();
  std::uint32_t self = 0;
  for (std::uint32_t pid = 0; pid < parent.p(); ++pid) {
    if (parts != nullptr && parts[pid] != part) continue;
    if (Pid{pid} == parent.self()) self = static_cast<std::uint32_t>(members.size());
    members.push_back(parent.member(pid));
  }
  const auto count = static_cast<std::uint32_t>(members.size());
  GroupHome home;
  home.key = KeyOfChild(parent.home().key, child, part);
  const GroupPlan plan{.key = home.key,
                       .parent = parent.home().key,
                       .child = static_cast<std::uint32_t>(child),
                       .members = &members[0],
                       .count = count,
                       .self = Value(self_)};
  home.slot = &OpenGroup(*segment_, plan, doorbell_);
  if (!HasMembers(*segment_, *home.slot, plan)) {
    ReportMisuse(parts == nullptr ? "bsp_dup" : "bsp_partition",
                 "this process makes a group of %u processes, and another process the same one of"
                 " %u, or of others; give the same n and part on all processes, and make groups in"
                 " the same order",
                 count, home.slot->members);
  }
  home.part = segment_->Part(home.slot->offset, LayOutGroup(segment_->layout(), count));
  home.memory = spare_regions_.Take(sizeof(Group));
  if (!home.memory.valid()) OutOfMemory(sizeof(Group));
  void* const memory = home.memory.data();
  Group& group = *new (memory) Group(static_cast<GroupHome&&>(home));  // tidy: it owns its memory
  const Segment& part_of_segment = group.home().part;
  group.ForEachArray([this](auto& array) { spare_regions_.Lend(array); });
  part_of_segment.cell(Pid{self}).os_pid = static_cast<std::uint32_t>(getpid());
  group.Attach({.segment = &part_of_segment,
                .self = Pid{self},
                .p = count,
                .doorbell = doorbell_.For(part_of_segment.header().bell),
                .mailbox = {},
                .processors = attachment_.processors,
                .turn = turn_,
                .barriers = 1,
                .figures = &group_figures_});
  group.Start();
  open_groups_ += 1;
  return group;
}

BarrierFlags Process::FinishCounted(Group& group, Call call, std::uint64_t messages) {
  if (group.EndsByLanes()) {
    const BarrierFlags all = group.FinishCounted(call, messages, others());
    if (all.save != 0 && !HasAreas()) TakeImage();
    return all;
  }
  group.EndByBarrier(call, messages);
  return Finish(group, call.site, SuperstepOf::kProgram);
}

void Process::Leave(Group& group) {
  const UseOfPart use = group.Leave();
  LeaveGroup(*segment_, *group.home().slot, group.segment().cell(group.self()), use, doorbell_);
  group.ForEachArray([this](auto& array) { spare_regions_.TakeBack(array); });
  MappedRegion memory = static_cast<MappedRegion&&>(group.home().memory);
  group.~Group();
  spare_regions_.GiveBack(static_cast<MappedRegion&&>(memory));
  open_groups_ -= 1;
}

}  // namespace bspnow::runtime
