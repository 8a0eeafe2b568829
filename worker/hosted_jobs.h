// All jobs on this node, by job and epoch: the orders of the coordinator go to the right one. An
// order that is repeated, or for a job that is not here, changes nothing. On the loop's thread.
#ifndef WORKER_HOSTED_JOBS_H_
#define WORKER_HOSTED_JOBS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/ids.h"
#include "proto/workers.pb.h"
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
  void OnOutputKept(JobId job, Epoch epoch, const std::vector<std::size_t>& pieces);
  void OnBroken(JobId job, Epoch epoch, const std::string& reason);

  /// The coordinator knows nothing of them any more.
  void AbandonAll();

  /// This worker ends: so do its jobs. `empty` is called when nothing of them is left.
  void EndAll(const std::string& reason, std::function<void()> empty);

  std::uint32_t jobs() const { return static_cast<std::uint32_t>(jobs_.size()); }
  std::uint32_t processes() const;

 private:
  using Key = std::pair<JobId, Epoch>;

  void OnStart(const proto::StartJob& start);
  void OnCleared(const Key& key);
  HostedJob* Find(std::uint64_t job, std::uint64_t epoch);
  std::uint64_t AddressSpaceLeft() const;
  void KillStrays();

  HostingContext context_;
  WorkerId self_{0};
  std::map<Key, std::unique_ptr<HostedJob>> jobs_;
  std::function<void()> empty_;
};

}  // namespace bspnow

#endif  // WORKER_HOSTED_JOBS_H_
