// Since when a node's processes cannot be saved, because they have groups open, or have areas to
// save and make nothing but collective calls. Looked for now and
// then, in the job's segment: neither a superstep nor a group costs anything by it. See "Who is
// waited for" in docs/design.md.
#ifndef WORKER_EXCHANGE_GROUPS_WATCH_H_
#define WORKER_EXCHANGE_GROUPS_WATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/link/link_segment.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// A group that has members on this node; not the root group.
struct OpenPart {
  std::uint64_t key;  ///< Of no other group, ever.
  std::uint64_t offset;
  Segment segment;
  const GroupSlot& slot;

  /// It is that group's still: what has been read there was, too.
  bool StaysOpen() const { return slot.state.load() == GroupSlot::kOpen && slot.key == key; }
};

/// All of them. What processes have written over is passed over.
std::vector<OpenPart> OpenParts(const Segment& job);

struct GroupsLook {
  std::uint32_t passed = 0;     ///< Barriers of the root group.
  std::uint32_t apart = 0;      ///< Processes of the job that came to the last one from groups.
  std::uint32_t in_groups = 0;  ///< Processes here that are in groups now.
  ImageWait image{};
};

GroupsLook LookAtGroups(const NodeSegment& segment);

/// What is said of them.
struct GroupsWord {
  std::uint32_t in_groups;
  std::uint64_t since_ns;
  bool in_calls = false;  ///< Instead.

  bool operator==(const GroupsWord&) const = default;
};

class GroupsWatch {
 public:
  /// What is to be said now: the processes that are in groups, once no image could have been taken
  /// for `patience_ns`; or that none are, but an image is due and each barrier finds processes that
  /// seem to be. The same again when their number has changed; none once an image could be taken.
  std::optional<GroupsWord> OnLook(const GroupsLook& look, std::uint64_t now_ns,
                                   std::uint64_t patience_ns);

  /// As BarrierWatch has it.
  void SayAgain() { again_ = true; }

 private:
  std::optional<std::uint64_t> since_ns_;
  std::uint32_t passed_ = 0;
  std::uint64_t chances_ = 0;
  GroupsWord said_{};  ///< No processes: nothing.
  bool again_ = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_GROUPS_WATCH_H_
