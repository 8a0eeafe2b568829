// The coordinator as a daemon: its core (core/cluster.h) on this machine's loop, disk and sockets.
#ifndef COORDINATOR_DAEMON_H_
#define COORDINATOR_DAEMON_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <absl/status/statusor.h>
#include "coordinator/archived_jobs.h"
#include "coordinator/content_checks.h"
#include "coordinator/core/cluster.h"
#include "coordinator/journal/job_store.h"
#include "coordinator/kept_bytes.h"
#include "coordinator/loop_timers.h"
#include "coordinator/old_files.h"
#include "coordinator/output/job_log.h"
#include "coordinator/rpc/barrier_server.h"
#include "coordinator/state_directory.h"
#include "coordinator/uploads.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/stream_key.h"

namespace bspnow::coordinator {

struct DaemonSettings {
  SocketAddress barrier_listen;
  std::string barrier_advertise;  ///< Where workers connect; empty: where it listens.
  bool data_tls = false;          ///< Workers' streams are encrypted.
  std::uint64_t log_bytes_max;    ///< Of one job.
  std::uint64_t files_bytes_max;  ///< Of one job.
  std::uint64_t keep_days;        ///< Logs and files of ended jobs.
  CheckpointLimits checkpoint_limits;
  std::uint32_t checkpoint_copies;  ///< Of each image, beside the one on its own node.
  Quotas quotas;
  std::function<void(const ClientEnd& end)> ended_by_client;  ///< As ClusterPorts::ended_by_client.
  std::function<void()> start_anew;  ///< As ClusterPorts::start_anew; on the loop's thread.
};

class Daemon {
 public:
  /// Listens for workers' frames, reads the journal, raises the term, goes on with what runs.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(EventLoop& loop, const StateDirectory& state,
                                                       DaemonSettings settings);
  /// For Start.
  struct Opened {
    std::unique_ptr<JobStore> store;
    StreamKey stream_key;
    std::unique_ptr<BarrierServer> frames;
  };
  Daemon(EventLoop& loop, const StateDirectory& state, DaemonSettings settings, Opened opened);
  ~Daemon();

  Cluster& cluster() { return cluster_; }
  const Cluster& cluster() const { return cluster_; }
  /// The core's figures and the sockets'.
  ClusterFigures Figures() const;
  /// Of a job that exists. From any thread.
  LogReader ReadLog(JobId job);

  const Uploads& uploads() const { return uploads_; }
  std::string files_of(JobId job) const { return state_.files(job); }
  std::string profile_of(JobId job) const { return state_.profile(job); }
  std::uint64_t files_bytes_max() const { return settings_.files_bytes_max; }
  SocketAddress barrier_address() const { return frames_->address(); }

 private:
  ClusterSettings CoreSettings() const;
  KnownJobs JobsNow() const;
  /// And counts what is kept: of archived jobs, too, if it matters whose it is.
  void CleanUp();
  void CleanUp(KnownJobs jobs);
  void CleanOnThread(std::function<void()> work);

  EventLoop& loop_;
  const StateDirectory& state_;
  const DaemonSettings settings_;
  const StreamKey stream_key_;
  KeptBytes kept_;
  Uploads uploads_;
  ContentChecks content_checks_;
  std::unique_ptr<BarrierServer> frames_;
  JobLogs logs_;
  std::unique_ptr<JobStore> store_;
  ArchivedJobs archived_{*store_};
  LoopTimers core_timers_;
  Cluster cluster_;
  TimerId cleaning_ = kNoTimer;
  std::jthread cleaner_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_DAEMON_H_
