// Processes of this node that wait for each other in a circle: each at the end of a superstep of
// some group, for one that waits in another. Groups that were made, or whose supersteps were ended,
// in different order come to that, and nothing comes of it any more.
#ifndef WORKER_EXCHANGE_DEADLOCK_WATCH_H_
#define WORKER_EXCHANGE_DEADLOCK_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "runtime/link/link.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// What a process has written of itself as a member of a group. Each word grows, or comes back to a
/// value only after another has grown. So who finds the words of all groups twice knows that they
/// were so at one moment, after the first look and before the second.
struct MemberFacts {
  std::uint32_t pid;      ///< In the job.
  bool here;              ///< On this node.
  std::uint32_t arrived;  ///< These are ProcessCell's.
  std::uint32_t started;
  std::uint32_t announced;
  std::uint64_t counting;  ///< CountedWait::superstep
  std::uint64_t messages;  ///< CountedWait::expected
  bool operator==(const MemberFacts&) const = default;
};
struct GroupFacts {
  std::uint64_t key;     ///< 0: the root group.
  std::uint64_t offset;  ///< Of its part.
  std::uint32_t released;
  std::vector<MemberFacts> members;
  bool operator==(const GroupFacts&) const = default;
};

/// Whether the process of this cell has one thread. Another one might do what all wait for.
bool HasOneThread(const ProcessCell& cell);

class DeadlockWatch {
 public:
  explicit DeadlockWatch(std::function<bool(const ProcessCell&)> has_one_thread = HasOneThread)
      : has_one_thread_(std::move(has_one_thread)) {}

  /// Processes of which none will ever go on, whatever others do; empty: it is not known of any.
  /// They waited like that between the last look and this one. Said once.
  std::vector<Pid> OnLook(const NodeSegment& segment);

 private:
  std::vector<Pid> StuckBefore(const Segment& job) const;

  std::function<bool(const ProcessCell&)> has_one_thread_;
  std::vector<GroupFacts> before_;
  bool said_ = false;
};

/// For the user. `stuck` is not empty.
std::string DeadlockText(const std::vector<Pid>& stuck);

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_DEADLOCK_WATCH_H_
