// All jobs on this node, by job and epoch: the orders of the coordinator go to the right one. An
// order that is repeated, or for a job that is not here, changes nothing. On the loop's thread.
#ifndef WORKER_HOSTED_JOBS_H_
#define WORKER_HOSTED_JOBS_H_

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
#include "worker/checkpoint_keeper.h"
#include "worker/hosted_job.h"

namespace bspnow {

class HostedJobs {
 public:
  /// Clears directories that an earlier run of the daemon left, and becomes the subreaper of what
  /// jobs leave if their bsp-host is killed.
  explicit HostedJobs(HostingContext context);

  /// The id that the coordinator gave this worker.
  void SetSelf(WorkerId self) { self_ = self; }

  void OnOrder(const proto::Order& order);
  void OnOutputKept(JobId job, Epoch epoch, std::uint64_t credit_bytes);

  /// The superstep path of the job has failed.
  void OnBroken(JobId job, Epoch epoch, ExchangeFault fault, const std::string& reason);

  /// Another node has put images of this job into the store. If it was stopped for long the job may
  /// have ended: the coordinator then says that nothing of it stays.
  void OnImagesReceived(JobId job, std::uint64_t checkpoint);

  /// The coordinator knows nothing of the others any more.
  void AbandonAllBut(const std::set<JobId>& kept);

  /// For a coordinator that was restarted.
  std::vector<proto::HeldJob> Held() const;

  /// No process here leaves a barrier after this moment of CLOCK_MONOTONIC; until the first call
  /// none does at all. Jobs that are being abandoned get no more time.
  void SetLease(std::uint64_t until_ns);

  /// This worker ends: so do its jobs. `empty` is called when nothing of them is left.
  void EndAll(const std::string& reason, std::function<void()> empty);

  std::uint32_t jobs() const { return static_cast<std::uint32_t>(jobs_.size()); }
  std::uint32_t processes() const;

 private:
  using Key = std::pair<JobId, Epoch>;

  void OnStart(const proto::StartJob& start);
  void OnEnd(const proto::EndJob& end);
  void OnTakeCheckpoint(const proto::TakeCheckpoint& order);
  void OnCopyCheckpoint(const proto::CopyCheckpoint& order);
  void OnLetGo(const proto::LetGo& order);
  void OnCleared(const Key& key);
  HostedJob* Find(std::uint64_t job, std::uint64_t epoch);
  std::uint64_t AddressSpaceLeft() const;
  void KillStrays();

  HostingContext context_;
  CheckpointKeeper keeper_;
  std::uint64_t lease_until_ns_ = 0;  ///< Nobody has granted any yet.
  WorkerId self_{0};
  std::map<Key, std::unique_ptr<HostedJob>> jobs_;
  std::function<void()> empty_;
};

}  // namespace bspnow

#endif  // WORKER_HOSTED_JOBS_H_
