// The groups of a job that processes of this node have opened, as the table in their segment has
// them (GroupSlot in runtime/link/link.h). A slot is copied before it is looked at, and what it
// says is checked: a process may have written anything there.
#ifndef WORKER_EXCHANGE_GROUP_READER_H_
#define WORKER_EXCHANGE_GROUP_READER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/job_shape.h"

namespace bspnow::worker {

/// What a slot says.
struct GroupWords {
  std::uint32_t state;
  std::uint32_t members;
  std::uint64_t key;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t nodes;

  friend bool operator==(const GroupWords&, const GroupWords&) = default;
};

/// Nothing if no worker takes part in what is in the slot, or if processes are changing it: if it
/// becomes one with members elsewhere, the bell says so afterwards.
std::optional<GroupWords> CopySlot(const GroupSlot& slot);

/// A group that can be.
struct OpenGroup {
  GroupId id{};
  std::uint64_t offset = 0;
  SegmentLayout layout{};                 ///< Of its part.
  std::vector<std::uint32_t> members{};   ///< Their pids in the job, by their pids in the group.
  std::vector<std::vector<Pid>> hosts{};  ///< By host of the job: their pids in the group.

  std::uint64_t bytes() const { return SegmentBytes(layout); }
};

/// INVALID_ARGUMENT: a process has damaged its memory. `job` is the whole segment, of the job of
/// this shape, and `open` are the groups that have been read before.
absl::StatusOr<OpenGroup> ReadGroup(const Segment& job, const JobShape& shape,
                                    const GroupWords& words, std::span<const OpenGroup> open);

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_GROUP_READER_H_
