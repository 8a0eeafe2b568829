// All jobs on this node, by job and epoch: the orders of the coordinator go to the right one. An
// order that is repeated, or for a job that is not here, changes nothing. Decides only: what is to
// be done JobHosting and CheckpointDisk do, of which the daemon and a simulation have their own.
#ifndef WORKER_CORE_HOSTED_JOBS_H_
#define WORKER_CORE_HOSTED_JOBS_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "proto/workers.pb.h"
#include "worker/core/checkpoint_disk.h"
#include "worker/core/checkpoint_keeper.h"
#include "worker/core/hosted_job.h"
#include "worker/core/job_host.h"
#include "worker/core/started_epochs.h"
#include "worker/exchange/exchange_fault.h"

namespace bspnow::worker {

class HostedJobs {
 public:
  /// Jobs that hear of no coordinator for `orphan_timeout_ns` are ended.
  HostedJobs(JobHosting& hosting, CheckpointDisk& disk, std::uint64_t orphan_timeout_ns,
             std::function<void(proto::WorkerEvent)> report)
      : orphan_timeout_ns_(orphan_timeout_ns),
        keeper_(disk, report),
        context_{.hosting = hosting, .keeper = keeper_, .report = std::move(report)} {}

  /// Completes a request to register with what runs and lies here, and what has run.
  absl::Status Describe(proto::RegisterRequest& request);

  /// Of the jobs here only the reply's keep_jobs go on.
  void OnRegistered(const proto::RegisterReply& reply);

  /// The coordinator renewed the lease, which was asked for at this moment (NowNs): no
  /// process here leaves a barrier after the end of the lease, and none before the first one. Jobs
  /// that are being abandoned get no more time.
  void OnLeaseRenewed(std::uint64_t sent_ns);
  /// When the last renewal was asked for; 0: there was none.
  std::uint64_t lease_from_ns() const { return lease_from_ns_; }
  bool LeaseValid(std::uint64_t now_ns) const { return now_ns < context_.lease_until_ns; }

  /// How often a lease is to be asked for: a node without jobs, where nobody needs one, does that
  /// to be known as alive.
  std::uint64_t heartbeat_ms() const { return jobs_.empty() ? idle_heartbeat_ms_ : heartbeat_ms_; }

  /// The coordinator has renewed the lease as often as it was to be asked for.
  bool HearsCoordinator(std::uint64_t now_ns) const;

  /// To be called each second: jobs wait at a barrier for a coordinator, but not for ever.
  void EndOrphans(std::uint64_t now_ns);

  void OnOrder(const proto::Order& order);

  /// This much of the credit for output is free again.
  void OnOutputKept(JobId job, Epoch epoch, std::uint64_t credit_bytes);

  /// The superstep path of the job has failed.
  void OnBroken(JobId job, Epoch epoch, ExchangeFault fault, const std::string& reason);

  /// Another node has put images of this job into the store. If that node was stopped for long the
  /// job may have ended: the coordinator then orders that nothing of it is kept.
  void OnImagesReceived(JobId job, std::uint64_t checkpoint);

  /// The coordinator knows nothing of the others any more, or nobody knows a coordinator.
  void AbandonAllBut(const std::set<JobId>& kept);

  /// For a coordinator that was restarted.
  std::vector<proto::HeldJob> Held() const;

  /// This worker ends: so do its jobs. `empty` is called when nothing of them is left.
  void EndAll(const std::string& reason, std::function<void()> empty);

  std::uint32_t jobs() const { return static_cast<std::uint32_t>(jobs_.size()); }
  std::uint32_t processes() const;

 private:
  using Key = std::pair<JobId, Epoch>;

  void RefuseStart(const proto::StartJob& start, const std::string& reason);
  void OnStart(const proto::StartJob& start);
  void OnEnd(const proto::EndJob& end);
  void OnTakeCheckpoint(const proto::TakeCheckpoint& order);
  void OnCopyCheckpoint(const proto::CopyCheckpoint& order);
  void OnReleaseHeld(const proto::ReleaseHeld& order);
  void OnCleared(const Key& key);
  HostedJob* Find(std::uint64_t job, std::uint64_t epoch);

  const std::uint64_t orphan_timeout_ns_;
  std::uint64_t lease_ns_ = 0;
  std::uint64_t heartbeat_ms_ = 0;
  std::uint64_t idle_heartbeat_ms_ = 0;
  std::uint64_t lease_from_ns_ = 0;  ///< 0: there never was one.
  std::uint64_t idle_ns_ = 0;        ///< When there was no job, as far as was looked.
  std::uint64_t looked_ns_ = 0;      ///< For orphans; 0: not yet.
  std::uint64_t paused_ns_ = 0;      ///< This worker was stopped for, since both.
  std::uint64_t resumed_ns_ = 0;     ///< When it last noticed that.
  CheckpointKeeper keeper_;
  HostedJobContext context_;
  WorkerId self_{0};
  std::map<Key, std::unique_ptr<HostedJob>> jobs_;
  StartedEpochs started_;  ///< By any coordinator.
  std::function<void()> empty_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_HOSTED_JOBS_H_
