// The table of the groups that have members on this node (GroupSlot in link.h), as processes use
// it.
#ifndef RUNTIME_LINK_GROUP_SLOTS_H_
#define RUNTIME_LINK_GROUP_SLOTS_H_

#include <cstdint>

#include "runtime/link/doorbell.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

/// A group as its members know it without a word to each other.
struct GroupPlan {
  std::uint64_t key;             ///< Of no other group of the job. Not 0.
  std::uint64_t parent;          ///< The key of the group that it was made of; 0: the root group.
  std::uint32_t child;           ///< Of that one: see GroupSlot.
  const std::uint32_t* members;  ///< Their pids in the job, ascending.
  std::uint32_t count;
  std::uint32_t self;  ///< The pid of this process.
};

/// The slot of the group, which the first member here takes. If there is no room it waits for
/// groups that this process has left before others here have; if there are none it ends the job.
/// While it waits ProcessCell::room_waits is odd.
/// `job` is the whole segment, and `doorbell` of its worker.
GroupSlot& OpenGroup(const Segment& job, const GroupPlan& plan, Doorbell& doorbell);

/// Whether the member here that took the slot had the same members in mind. Otherwise the part is
/// not laid out for this process.
bool HasMembers(const Segment& job, const GroupSlot& slot, const GroupPlan& plan);

/// What use a process has made of the part of a group.
struct UseOfPart {
  Segment::PartUse extent;
  std::uint64_t heap_bytes;  ///< That its heaps there hold.
};

/// The process of this cell of the group looks at nothing of it any more. The last one here gives
/// the part up, or leaves that to the worker; till then its memory is held.
void LeaveGroup(const Segment& job, GroupSlot& slot, ProcessCell& self, const UseOfPart& use,
                Doorbell& doorbell);

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_GROUP_SLOTS_H_
