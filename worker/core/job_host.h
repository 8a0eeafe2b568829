// What HostedJob asks of the node for its job, and nothing more: directory, memory, processes. The
// daemon has NodeJob (node_job.h); a simulation has processes that it makes up.
#ifndef WORKER_CORE_JOB_HOST_H_
#define WORKER_CORE_JOB_HOST_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/ids.h"
#include "proto/host.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::worker {

class HostedJob;

/// No call of HostedJob comes from within one of these.
class JobHost {
 public:
  /// What is sent to the coordinator of what a job leaves: both only when it has ended.
  enum class Left { kFilesAndProfile, kProfile, kNothing };

  virtual ~JobHost() = default;

  /// Fetches what the job needs; HostedJob::OnPrepared follows.
  virtual void Prepare() = 0;

  /// What Prepare has begun is not needed any more: OnPrepared comes soon, with any status.
  virtual void StopPreparing() = 0;

  /// Of what Prepare has begun the files of the checkpoint are needed, and nothing else.
  virtual void BringFilesOnly() = 0;

  /// Makes the memory and starts the processes, if any; HostedJob::OnHostEvent is called with what
  /// happens to them, OnHostGone when none is left.
  virtual absl::Status Start(std::uint64_t lease_until_ns) = 0;

  /// To the processes' host; without processes nothing happens.
  virtual void Send(const proto::HostOrder& order) = 0;

  /// False if input before this one has not come. InputTaken follows.
  [[nodiscard]] virtual bool TakeInput(const proto::Input& input) = 0;

  // While there is memory; else these do nothing.
  /// No process leaves a barrier after this moment (NowNs).
  virtual void SetLease(std::uint64_t until_ns) = 0;
  virtual void OrderImage(const proto::TakeCheckpoint& order) = 0;
  /// The processes that wait after their images of this checkpoint go on.
  virtual void ReleaseHeld(std::uint64_t checkpoint) = 0;
  /// Whether the processes stand still: a StandStill follows, with this number.
  virtual void LookAgain(std::uint64_t look) = 0;

  /// A new coordinator knows nothing of processes that wait: those that still do are reported anew.
  virtual void SayAgain() = 0;

  /// How far the processes are: participants, barriers.
  virtual proto::HeldJob Progress() const = 0;

  /// The job exchanges nothing with other nodes any more.
  virtual void StopExchange() = 0;

  /// Removes everything, after what is to be kept has been sent; HostedJob::OnCleared follows.
  /// When no process is left.
  virtual void Clear(Left kept) = 0;
};

/// A node that can host jobs.
class JobHosting {
 public:
  /// Of the job's start(), of which this is the host with the number node(). The job outlives it.
  virtual std::unique_ptr<JobHost> Host(HostedJob& job) = 0;

  /// Asks for a lease now, and from now on every so often.
  virtual void RenewLease(std::uint64_t every_ms) = 0;

 protected:
  ~JobHosting() = default;
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_JOB_HOST_H_
