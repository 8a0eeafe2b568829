// How a worker ends. SIGTERM first lets its jobs move to other nodes, for as long as it may take;
// SIGINT, and any second signal, ends them here, and they go back to a checkpoint. On the loop's
// thread. See "Leaving" in docs/design.md.
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

class Departure {
 public:
  /// `drain_ms`: what SIGTERM gives the jobs to move; 0: nothing.
  Departure(EventLoop& loop, HostedJobs& jobs, std::string name, std::uint64_t drain_ms,
            std::function<void(proto::WorkerEvent)> report)
      : loop_(loop),
        jobs_(jobs),
        name_(std::move(name)),
        drain_ms_(drain_ms),
        report_(std::move(report)) {}

  void OnSignal(int signal);

  /// A coordinator that was restarted does not know.
  void OnRegistered();

  /// The coordinator asks nothing of this worker any more.
  void OnMayLeave();

 private:
  enum class Stage { kStays, kLeaves, kEnds };

  void AskToLeave();
  void End();

  EventLoop& loop_;
  HostedJobs& jobs_;
  const std::string name_;
  const std::uint64_t drain_ms_;
  const std::function<void(proto::WorkerEvent)> report_;
  Stage stage_ = Stage::kStays;
  bool was_registered_ = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_DEPARTURE_H_
