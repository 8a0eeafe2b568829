// The barrier between the processes of one node, and what all learn from it. One fetch_add to
// arrive and one word to wait for: an empty superstep touches nothing else. If the job has several
// nodes the worker carries it on: it learns from the last to arrive, and releases all.
#ifndef RUNTIME_LINK_NODE_BARRIER_H_
#define RUNTIME_LINK_NODE_BARRIER_H_

#include <cstdint>

#include "base/poll_wait.h"
#include "runtime/link/link.h"

namespace bspnow::runtime {

/// What an arriving process brings, or how many processes of the whole job brought it.
struct BarrierFlags {
  std::uint32_t data = 0;
  std::uint32_t gets = 0;
  std::uint32_t votes = 0;
  std::uint32_t ending = 0;
  std::uint32_t groups = 0;    ///< Processes that are in other groups, too; see NoteGroups.
  std::uint32_t by_count = 0;  ///< Processes that end the superstep by a count (bsp_oblsync).
  /// On one node: processes that passed no barrier at the end of the superstep before.
  std::uint32_t after_count = 0;
  std::uint32_t save = 0;  ///< Not brought, but found: 1 if an image is to be taken.
  /// When this process called bsp_sync; found is the last such call on this node, as known.
  std::uint64_t called_ns = 0;
};

class BarrierMember {
 public:
  BarrierMember() = default;

  /// `here` processes of the group live on this node; `passed` barriers are over.
  BarrierMember(NodeBarrier& barrier, std::uint32_t here, std::uint32_t passed)
      : barrier_(&barrier), here_(here), index_(passed) {}

  /// The number of the barrier that comes next; bsp_begin's is 0, which other
  /// groups do not have, and that of superstep s is s + 1 (with BSP_CHECK=full, which has two a
  /// superstep, 2s + 2).
  std::uint32_t index() const { return index_; }

  /// True for the last process here to arrive. If all live here it must call Release once it has
  /// done what has to happen while everybody waits; else it rings the worker, and calls Wait.
  /// The others call Wait.
  [[nodiscard]] bool Arrive(const BarrierFlags& mine);

  /// Before Arrive, by who called bsp_sync long ago: others may have called it since, and not be
  /// the last to arrive.
  void NoteCall(std::uint64_t called_ns);

  /// By the last to arrive, before others hear of it: a group that a process here has left, and
  /// another one here has still to open, counts as one that a process is in. What was sent in it
  /// lies in its part, which no image holds.
  void NoteGroups(const GroupTable& groups);

  /// Before Release, at the end of a superstep: if an image is wanted all will find `save`.
  void TakeOrder(NodeHeader& header);

  /// By the last to arrive: BarrierFlags::after_count of any.
  bool AnyAfterCount() const {
    return barrier_->phases[index_ & 1].after_count.load(std::memory_order_relaxed) != 0;
  }

  void Release();
  void Wait(PollWait& wait) { wait.Until(barrier_->released, index_ + 1); }

  /// The same, or until there are news (PollWait::UntilNews). True: go on to Leave.
  bool WaitForNews(PollWait& wait, const Watched& news) {
    return wait.UntilNews(barrier_->released, index_ + 1, news);
  }
  bool WaitForNews(PollWait& wait, const Watched& news, const SideWork& side) {
    return wait.UntilNews(barrier_->released, index_ + 1, news, side);
  }

  /// After Release or Wait: how many processes brought what. Leaves this barrier.
  BarrierFlags Leave();

  /// After Leave, in a superstep with gets: this process has answered those addressed to it. True
  /// for the last one here.
  [[nodiscard]] bool CountAnswered();

 private:
  NodeBarrier* barrier_ = nullptr;
  std::uint32_t here_ = 1;
  std::uint32_t index_ = 0;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_NODE_BARRIER_H_
