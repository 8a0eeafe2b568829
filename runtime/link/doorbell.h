// This process's hand on the bell of its worker (WorkerBell in link.h), in a job of several nodes.
#ifndef RUNTIME_LINK_DOORBELL_H_
#define RUNTIME_LINK_DOORBELL_H_

#include <atomic>
#include <cstdint>

#include "runtime/link/known_descriptor.h"
#include "runtime/link/link.h"

namespace bspnow::runtime {

class Doorbell {
 public:
  Doorbell() = default;

  /// `socket` came with the segment.
  Doorbell(WorkerBell& bell, const KnownDescriptor& socket) : bell_(&bell), socket_(socket) {}

  /// pid 0 has set the number of participants.
  void Begun() { Say(bell_->begun, 1); }

  /// All processes of this node have arrived at barrier number `index`.
  void AllArrived(std::uint32_t index) { Say(bell_->barriers, index + 1); }

  /// All of them have answered the gets of `superstep`.
  void AllAnswered(std::uint64_t superstep) {
    Say(bell_->answers, static_cast<std::uint32_t>(superstep + 1));
  }

  /// A group on several nodes was opened or left; of the bell of the whole job.
  void GroupsChanged();

  /// A lane does not work (LaneState::broken).
  void LanesBroken() { RingIfAsleep(); }

  /// The worker rings, too, to wake who drives the lanes. Its rings so far are heard.
  int NumberIfOurs() const { return socket_.NumberIfOurs(); }
  void HearWorker();

  /// The same doorbell, with the words of a group.
  Doorbell For(WorkerBell& bell) const { return {bell, socket_}; }

  /// One more chunk is in the ring of handed ones.
  void Handed();

 private:
  void Say(std::atomic<std::uint32_t>& word, std::uint32_t value);
  void RingIfAsleep();

  WorkerBell* bell_ = nullptr;
  KnownDescriptor socket_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_DOORBELL_H_
