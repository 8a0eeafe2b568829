// What coordinator and one worker owe each other on their control stream, from Register until the
// worker is lost: pure bookkeeping of two numbered sequences. Streams come and go; what the other
// side did not get is sent again on the next one. See proto/workers.proto.
#ifndef COORDINATOR_CORE_WORKER_SESSION_H_
#define COORDINATOR_CORE_WORKER_SESSION_H_

#include <cstdint>
#include <deque>
#include <set>

#include <absl/status/statusor.h>
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

class WorkerSession {
 public:
  // ---- Orders to the worker. --------------------------------------------------------------------

  /// The order with its number; kept until the worker has taken it.
  const proto::Order& Give(proto::Order order);
  void OnOrdersTaken(std::uint64_t sequence);
  /// Whether the worker is not known to have taken the order with this number, which was given.
  bool Owes(std::uint64_t sequence) const {
    return !untaken_.empty() && untaken_.front().sequence() <= sequence;
  }
  /// What a new stream must begin with.
  const std::deque<proto::Order>& untaken() const { return untaken_; }

  // ---- Events from the worker. ------------------------------------------------------------------

  enum class Novelty { kNew, kRepeated };
  /// INVALID_ARGUMENT if events before this one have not come.
  absl::StatusOr<Novelty> OnEvent(std::uint64_t sequence);

  /// The event that has just come is output, or follows output: it counts as acted upon only
  /// when that is in the log. Returns its sequence.
  std::uint64_t AwaitLog() {
    in_writing_.insert(last_event_);
    return last_event_;
  }
  /// This one of them is: logs of several jobs are written at a time, so it need not be the oldest.
  void OnLogged(std::uint64_t sequence) { in_writing_.erase(sequence); }
  /// The oldest of them; 0: none.
  std::uint64_t awaits_log() const { return in_writing_.empty() ? 0 : *in_writing_.begin(); }

  /// All events up to this one have been acted upon.
  std::uint64_t acted_upon() const {
    return in_writing_.empty() ? last_event_ : *in_writing_.begin() - 1;
  }

 private:
  std::deque<proto::Order> untaken_;
  std::uint64_t last_order_ = 0;
  std::set<std::uint64_t> in_writing_;  ///< Sequences of events.
  std::uint64_t last_event_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_WORKER_SESSION_H_
