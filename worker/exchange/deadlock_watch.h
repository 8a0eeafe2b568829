// Processes of this node that wait for each other in a circle: each at the end of a superstep of
// some group, for one that waits in another; or for room for one more group, for one that has not
// left those that it has left. Groups that were made, or whose supersteps were ended, in different
// order come to that, and nothing comes of it any more. Circles over several nodes are found by the
// coordinator, from what nodes that stand still say (standstill.h).
#ifndef WORKER_EXCHANGE_DEADLOCK_WATCH_H_
#define WORKER_EXCHANGE_DEADLOCK_WATCH_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/stuck_process.h"
#include "runtime/link/link.h"
#include "worker/exchange/group_facts.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// Whether the process of this cell has one thread, and nobody has stopped it. Another one, or who
/// stopped it, might do what all wait for.
bool HasOneThread(const ProcessCell& cell);

class DeadlockWatch {
 public:
  explicit DeadlockWatch(std::function<bool(const ProcessCell&)> has_one_thread = HasOneThread)
      : has_one_thread_(std::move(has_one_thread)) {}

  /// Processes of which none will ever go on, whatever others do; empty: it is not known of any.
  /// They waited like that between the last look and this one. Said once.
  std::vector<StuckProcess> OnLook(const NodeSegment& segment);

  /// Of the last look.
  const NodeFacts& facts() const { return before_; }
  /// Another number whenever a look has found something else than the one before it.
  std::uint64_t standstill() const { return standstill_; }

 private:
  std::vector<StuckProcess> StuckBefore(const Segment& job) const;

  std::function<bool(const ProcessCell&)> has_one_thread_;
  NodeFacts before_{};
  std::uint64_t standstill_ = 0;
  bool said_ = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_DEADLOCK_WATCH_H_
