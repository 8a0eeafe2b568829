// What a worker and its coordinator owe each other: events that are not acknowledged, orders that
// were taken, the registration they belong to. Pure: CoordinatorStub has the calls and the threads.
#ifndef WORKER_CORE_COORDINATOR_SESSION_H_
#define WORKER_CORE_COORDINATOR_SESSION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/ids.h"
#include "proto/workers.pb.h"

namespace bspnow::worker {

class CoordinatorSession {
 public:
  /// Random, of this run of the daemon.
  explicit CoordinatorSession(std::uint64_t incarnation) : incarnation_(incarnation) {}

  // ---- Registration

  /// Completes a request that has all jobs that are held here. The events that the last coordinator
  /// did not acknowledge come again, in their order: so an exit among them is not held, lest it
  /// overtakes output; and a job that has only such events left is, as one that does not go on. Of
  /// which they say that it fails that is not said: a coordinator that took it for lost would begin
  /// it anew.
  void Describe(proto::RegisterRequest& request) const;

  /// What the last coordinator did not acknowledge is reported to this one, of the jobs that go on.
  void OnRegistered(const proto::RegisterReply& reply);

  // ---- The stream

  /// A stream begins with this message; then the events come again that are not acknowledged. Of
  /// `self` it says where this worker is.
  proto::WorkerEvent OnAttached(const proto::RegisterRequest& self);

  bool has_unsent() const { return sent_ < last_; }
  /// The next event of this stream; has_unsent().
  proto::WorkerEvent NextUnsent();

  /// False: the order came again.
  [[nodiscard]] bool Take(const proto::Order& order);

  /// How much output of each epoch is in its log now, as OutputCharge counts it.
  using Credits = std::map<std::pair<JobId, Epoch>, std::uint64_t>;
  Credits OnAcknowledge(std::uint64_t sequence);

  /// The event is sent, now or on the next stream, and kept until it is acknowledged.
  void Report(proto::WorkerEvent event);

  bool all_acknowledged() const { return unacknowledged_.empty(); }

 private:
  bool WillFail(const proto::HeldJob& job) const;
  bool IsUnacknowledged(const proto::HeldJob& job, std::uint32_t exited_pid) const;

  const std::uint64_t incarnation_;
  std::deque<proto::WorkerEvent> unacknowledged_;
  std::uint64_t last_ = 0;  ///< Sequence of the last event,
  std::uint64_t sent_ = 0;  ///< and of the last one on this stream.
  std::uint64_t orders_taken_ = 0;
  std::uint32_t worker_ = 0;
  std::uint64_t term_ = 0;  ///< Of the coordinator.
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_COORDINATOR_SESSION_H_
