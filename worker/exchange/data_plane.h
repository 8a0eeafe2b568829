// The superstep path of one worker: the streams to the other workers and to the coordinator, and
// between them the segments of the jobs that it hosts. The decisions are NodeExchange's, one for
// each job; this is their rim. Lives on the loop's thread.
#ifndef WORKER_EXCHANGE_DATA_PLANE_H_
#define WORKER_EXCHANGE_DATA_PLANE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/event_loop.h"
#include "worker/exchange/job_plan.h"

namespace bspnow {

struct DataPlaneSettings {
  std::string listen;             ///< HOST:PORT for the other workers' streams; port 0: any.
  std::string congestion;         ///< TCP_CONGESTION of every socket; "default": the system's.
  std::uint64_t incarnation = 0;  ///< Random, of this run of the worker.
  /// A peer that is silent for so long while frames wait for it: epoch_broken.
  std::uint64_t unreachable_ms = 60'000;
};

/// Called on the loop's thread, never from within a call of DataPlane.
struct DataPlaneEvents {
  /// The job cannot go on, through its program's fault: it damaged memory, or needs too much of it.
  /// It stays until RemoveJob, but exchanges nothing more.
  std::function<void(JobId, Epoch, const std::string& reason)> job_broken;
  /// The same, but for what only this epoch suffers from: a peer, a stream.
  std::function<void(JobId, Epoch, const std::string& reason)> epoch_broken = nullptr;
  /// The coordinator renewed the lease, which holds for lease_ms from when the request was sent.
  std::function<void(std::uint64_t sent_ns)> lease_renewed;
  /// For the log, one line a fact.
  std::function<void(const std::string& fact)> note;
};

/// What the coordinator said at registration.
struct CoordinatorPlan {
  WorkerId self;
  std::string barrier_address;
  std::uint64_t heartbeat_ms;
  std::uint64_t lease_ms = 0;  ///< 0: there are no leases.
  std::uint64_t term = 0;
};

/// Counters since the start; for metrics.
struct DataPlaneStatistics {
  std::uint64_t frames_out = 0;
  std::uint64_t frames_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t resent_bytes = 0;
  std::uint64_t reconnects = 0;
  std::map<std::string, std::uint64_t> refused_frames;  ///< By reason.
};

class DataPlane {
 public:
  static absl::StatusOr<std::unique_ptr<DataPlane>> Create(EventLoop& loop,
                                                           const DataPlaneSettings& settings,
                                                           DataPlaneEvents events);
  ~DataPlane();

  /// Where the other workers' streams connect, as it is.
  const std::string& data_address() const;

  /// Connects to the coordinator, and again whenever that connection breaks. Called again after
  /// another registration: with the same id, and the exchanges go on; or with another one, and the
  /// jobs that are here cannot.
  void JoinCoordinator(const CoordinatorPlan& plan);

  /// Exchanges for a job, before its first process runs. Its pids must be in ascending order.
  void AddJob(const JobPlan& plan);

  /// Forgets the job and all its frames. When its processes are gone, or about to be killed.
  void RemoveJob(JobId job, Epoch epoch);

  /// The superstep that the job is in here; 0 if it is not known.
  Superstep superstep(JobId job, Epoch epoch) const;

  DataPlaneStatistics statistics() const;

 private:
  class Impl;
  struct Key {};  ///< Create alone has one.

 public:
  DataPlane(Key, std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace bspnow

#endif  // WORKER_EXCHANGE_DATA_PLANE_H_
