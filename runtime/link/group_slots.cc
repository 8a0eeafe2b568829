#include "runtime/link/group_slots.h"

#include "runtime/link/report.h"
#include "runtime/link/yield_lock.h"

namespace bspnow::runtime {
namespace {

std::uint32_t StateOf(const GroupSlot& slot) { return slot.state.load(std::memory_order_acquire); }

GroupSlot* Find(const Segment& job, std::uint64_t key) {
  const std::uint32_t used = job.header().groups.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    GroupSlot& slot = job.group_slot(i);
    if (slot.key == key && StateOf(slot) == GroupSlot::kOpen) return &slot;
  }
  return nullptr;
}

GroupSlot* TakeSlot(const Segment& job) {
  GroupTable& table = job.header().groups;
  const std::uint32_t used = table.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    if (StateOf(job.group_slot(i)) == GroupSlot::kFree) return &job.group_slot(i);
  }
  if (used == kGroupSlotsMax) return nullptr;
  table.used.store(used + 1, std::memory_order_release);
  return &job.group_slot(used);
}

// The end of the part that lies in [at, at + bytes); 0: nothing does.
std::uint64_t EndOfOverlap(const Segment& job, std::uint64_t at, std::uint64_t bytes) {
  const std::uint32_t used = job.header().groups.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    const GroupSlot& slot = job.group_slot(i);
    if (StateOf(slot) != GroupSlot::kFree && slot.offset < at + bytes &&
        at < slot.offset + slot.bytes) {
      return slot.offset + slot.bytes;
    }
  }
  return 0;
}

// From where the last part was found, since what was before it is mostly still taken. 0: no room.
std::uint64_t TakePart(const Segment& job, std::uint64_t bytes) {
  const std::uint64_t first = job.layout().parts_offset;
  const std::uint64_t end = first + job.layout().parts_bytes;
  std::uint64_t& next = job.header().groups.next_part;
  for (std::uint64_t at : {next < first ? first : next, first}) {
    while (at <= end && bytes <= end - at) {
      const std::uint64_t taken = EndOfOverlap(job, at, bytes);
      if (taken == 0) {
        next = at + bytes;
        return at;
      }
      at = taken;
    }
  }
  return 0;
}

// A slot that was kept, with a part for this number of members; null: there is none.
GroupSlot* TakeKept(const Segment& job, std::uint32_t members) {
  if (job.header().groups.kept_bytes.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::uint32_t used = job.header().groups.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    GroupSlot& slot = job.group_slot(i);
    if (StateOf(slot) != GroupSlot::kKept || slot.members != members) continue;
    job.TakeUpPart(slot);
    return &slot;
  }
  return nullptr;
}

// A slot with a part that is new.
GroupSlot* TakeNew(const Segment& job, std::uint32_t members) {
  const std::uint64_t bytes = SegmentBytes(LayOutGroup(job.layout(), members));
  const std::uint64_t offset = TakePart(job, bytes);
  GroupSlot* const slot = offset == 0 ? nullptr : TakeSlot(job);
  if (slot == nullptr) return nullptr;
  slot->members = members;
  slot->offset = offset;
  slot->bytes = bytes;
  return slot;
}

void DropKept(const Segment& job) {
  const std::uint32_t used = job.header().groups.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    GroupSlot& slot = job.group_slot(i);
    if (StateOf(slot) == GroupSlot::kKept) job.DropPart(slot);
  }
}

// Neighbours by pid mostly share a node.
bool IsFirstOfNode(const Segment& part, std::uint32_t pid) {
  const std::uint32_t node = part.cell(Pid{pid}).node;
  for (std::uint32_t other = pid; other-- > 0;)
    if (part.cell(Pid{other}).node == node) return false;
  return true;
}

// Everything else in a part is in its first state, zero, as in a segment that is new: or nobody
// reads it before it has been written.
void FillPart(const Segment& job, const GroupPlan& plan, const Segment& part, GroupSlot& slot) {
  const NodeHeader& whole = job.header();
  NodeHeader& header = part.header();
  header.magic = kLinkMagic;
  header.version = kLinkVersion;
  header.job = whole.job;
  header.epoch = whole.epoch;
  header.layout = part.layout();
  header.node = whole.node;
  header.participants.value.store(plan.count);
  header.barrier.released.value.store(1);  // It has none like bsp_begin's.
  slot.here = 0;
  std::uint32_t nodes = 0;
  for (std::uint32_t pid = 0; pid < plan.count; ++pid) {
    const std::uint32_t node = job.cell(Pid{plan.members[pid]}).node;
    ProcessCell& cell = part.cell(Pid{pid});
    cell.member = plan.members[pid];
    cell.node = node;
    slot.here += node == whole.node ? 1 : 0;
    nodes += IsFirstOfNode(part, pid) ? 1 : 0;
  }
  slot.nodes = header.nodes = nodes;
}

bool HasLeft(const Segment& job, const GroupSlot& slot, std::uint32_t member) {
  const Segment part = job.Part(slot.offset, LayOutGroup(job.layout(), slot.members));
  for (std::uint32_t pid = 0; pid < slot.members; ++pid) {
    const ProcessCell& cell = part.cell(Pid{pid});
    if (cell.member == member) return cell.state.load() == ProcessState::kEnded;
  }
  return false;
}

// Whether waiting helps: some group will be freed although `pid` does nothing. It has left that
// one before other processes here, who wait for nothing that it has not done yet; or the worker is
// about to free it. Under the lock.
bool SomeWillGo(const Segment& job, std::uint32_t pid) {
  const std::uint32_t used = job.header().groups.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    const GroupSlot& slot = job.group_slot(i);
    const std::uint32_t state = StateOf(slot);
    if (state == GroupSlot::kLeft) return true;
    if (state == GroupSlot::kOpen && slot.left != 0 && HasLeft(job, slot, pid)) return true;
  }
  return false;
}

// That a process may have left before others while room is short. And if it is not, who has left
// more gives others a moment first: memory that they leave is warm.
constexpr std::uint32_t kGroupsAheadMax = 4;
constexpr int kYieldsWhereThereIsRoom = 50;

// Of what the job may have, what heaps of groups hold that were left, or who has left them.
bool IsMuch(const Segment& job, std::uint64_t held) { return held > job.layout().memory_max / 2; }

// Slots, places, or memory.
bool RoomIsShort(const Segment& job) {
  const std::uint32_t used = job.header().groups.used.load(std::memory_order_relaxed);
  std::uint64_t slots = 0;
  std::uint64_t bytes = 0;
  std::uint64_t memory = 0;
  std::uint64_t held = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    const GroupSlot& slot = job.group_slot(i);
    if (StateOf(slot) == GroupSlot::kFree || StateOf(slot) == GroupSlot::kKept) continue;
    slots += 1;
    bytes += slot.bytes;
    memory += BytesToOpen(slot.members);
    held += job.held_in_part(slot.offset).load();
  }
  return slots > kGroupSlotsMax / 2 || bytes > job.layout().parts_bytes / 2 ||
         memory > job.layout().memory_max / 4 || IsMuch(job, held);
}

// Whether that process has left more groups before others, or much memory in them.
bool IsAhead(const Segment& job, std::uint32_t pid) {
  const std::uint32_t used = job.header().groups.used.load(std::memory_order_relaxed);
  std::uint32_t count = 0;
  std::uint64_t held = 0;
  for (std::uint32_t i = 0; i < used && count <= kGroupsAheadMax; ++i) {
    const GroupSlot& slot = job.group_slot(i);
    const std::uint32_t state = StateOf(slot);
    if (state != GroupSlot::kOpen && state != GroupSlot::kLeft) continue;
    if (slot.left == 0 || !HasLeft(job, slot, pid)) continue;
    count += 1;
    held += job.held_in_part(slot.offset).load();
  }
  return count > kGroupsAheadMax || IsMuch(job, held);
}

// Null, and nothing changes, if there is no room. Under the lock.
GroupSlot* TryToOpen(const Segment& job, const GroupPlan& plan, Doorbell& doorbell) {
  if (!job.ClaimPart(plan.count)) return nullptr;
  GroupSlot* slot = TakeKept(job, plan.count);
  if (slot == nullptr) slot = TakeNew(job, plan.count);
  if (slot == nullptr) {
    DropKept(job);
    slot = TakeNew(job, plan.count);
  }
  if (slot == nullptr) {
    job.ReturnPart(plan.count);
    return nullptr;
  }
  slot->key = plan.key;
  slot->parent = plan.parent;
  slot->child = plan.child;
  slot->left = slot->large = 0;
  FillPart(job, plan, job.Part(slot->offset, LayOutGroup(job.layout(), plan.count)), *slot);
  slot->state.store(GroupSlot::kOpen, std::memory_order_release);
  job.header().groups.open += 1;
  if (slot->nodes > 1) doorbell.GroupsChanged();
  return slot;
}

/// Whoever looks for processes that wait for each other sees it in the cell.
class RoomWait {
 public:
  RoomWait(const Segment& job, std::uint32_t pid)
      : waits_(job.cell(Pid{pid}).room_waits), turn_(job.turn(Pid{pid})) {}
  ~RoomWait() {
    if (yields_ == kYieldsWhereThereIsRoom) waits_ += 1;
  }
  RoomWait(const RoomWait&) = delete;
  RoomWait& operator=(const RoomWait&) = delete;

  void Yield() {
    if (yields_ < kYieldsWhereThereIsRoom && ++yields_ == kYieldsWhereThereIsRoom) waits_ += 1;
    turn_.Yield();
  }
  int yields() const { return yields_; }

 private:
  std::atomic<std::uint32_t>& waits_;
  Turn turn_;
  int yields_ = 0;
};

}  // namespace

GroupSlot& OpenGroup(const Segment& job, const GroupPlan& plan, Doorbell& doorbell) {
  RoomWait wait(job, plan.self);
  for (bool hope = true; hope; wait.Yield()) {
    const YieldLock lock(job.header().groups.lock);
    if (GroupSlot* const slot = Find(job, plan.key)) return *slot;
    // A process can open and leave groups long before the others do. Were all the room theirs,
    // others would find none for groups of their own, and could not know whether they should wait:
    // so half of it is kept for those who are not ahead.
    // The worker frees groups without the lock: what has gone while we looked is room, too.
    hope = SomeWillGo(job, plan.self);
    const bool may_open =
        !IsAhead(job, plan.self) || (wait.yields() >= kYieldsWhereThereIsRoom && !RoomIsShort(job));
    if (may_open)
      if (GroupSlot* const slot = TryToOpen(job, plan, doorbell)) return *slot;
  }
  ReportFailure(
      "no room for one more group, of %u processes: those that are open on this node have up to %u"
      " places, %llu GiB of address space, and what messages leave of %llu MiB of memory; leave"
      " groups that are done with, or allow more (--memory, ulimit -v, BSP_ADDRESS_SPACE)",
      plan.count, kGroupSlotsMax, static_cast<unsigned long long>(job.layout().parts_bytes >> 30),
      static_cast<unsigned long long>(job.layout().memory_max >> 20));
}

bool HasMembers(const Segment& job, const GroupSlot& slot, const GroupPlan& plan) {
  if (slot.members != plan.count) return false;
  const Segment part = job.Part(slot.offset, LayOutGroup(job.layout(), plan.count));
  for (std::uint32_t pid = 0; pid < plan.count; ++pid)
    if (part.cell(Pid{pid}).member != plan.members[pid]) return false;
  return true;
}

void LeaveGroup(const Segment& job, GroupSlot& slot, ProcessCell& self, const UseOfPart& use,
                Doorbell& doorbell) {
  const YieldLock lock(job.header().groups.lock);
  self.state.store(ProcessState::kEnded);
  slot.left += 1;
  if (use.extent == Segment::PartUse::kMuch) slot.large = 1;
  job.held_in_part(slot.offset) += use.heap_bytes;
  if (slot.left != slot.here) return;
  job.header().groups.open -= 1;
  if (slot.nodes > 1) {
    slot.state.store(GroupSlot::kLeft, std::memory_order_release);
    return doorbell.GroupsChanged();
  }
  job.GiveUpPart(slot, slot.offset, slot.members, Segment::UseOf(slot));
}

}  // namespace bspnow::runtime
