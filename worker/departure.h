// How a worker ends. SIGTERM first lets its jobs move to other nodes, for as long as it may take;
// SIGINT, any second signal, and that there is no coordinator to move them, ends them here, and
// they go back to a checkpoint. On the loop's thread. See "Leaving" in docs/design.md.
#ifndef WORKER_DEPARTURE_H_
#define WORKER_DEPARTURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "net/event_loop.h"
#include "proto/workers.pb.h"
#include "worker/core/hosted_jobs.h"

namespace bspnow::worker {

/// After this long without a heartbeat a coordinator gives a worker up (LeaseLimits::silent_ns in
/// coordinator/core/lease.h), and the jobs go back to their checkpoints whatever the worker does.
inline constexpr std::uint64_t kUnheardMs = 10'000;

class Departure {
 public:
  struct Patience {
    std::uint64_t drain_ms;                 ///< What SIGTERM gives the jobs to move; 0: nothing.
    std::uint64_t unheard_ms = kUnheardMs;  ///< Without a coordinator.
  };
  Departure(EventLoop& loop, HostedJobs& jobs, std::string name, const Patience& patience,
            std::function<void(proto::WorkerEvent)> report)
      : loop_(loop),
        jobs_(jobs),
        name_(std::move(name)),
        patience_(patience),
        report_(std::move(report)) {}

  void OnSignal(int signal);

  /// A coordinator that was restarted does not know.
  void OnRegistered();

  /// The coordinator asks nothing of this worker any more.
  void OnMayLeave();

 private:
  enum class Stage { kStays, kLeaves, kEnds };

  void AskToLeave();
  void AwaitCoordinator();
  void EndUndrained(const std::string& why);
  void End();

  EventLoop& loop_;
  HostedJobs& jobs_;
  const std::string name_;
  const Patience patience_;
  const std::function<void(proto::WorkerEvent)> report_;
  Stage stage_ = Stage::kStays;
  std::uint64_t told_ns_ = 0;  ///< To leave.
  bool was_registered_ = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_DEPARTURE_H_
