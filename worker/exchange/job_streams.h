// The streams of one group of a job to the workers of its other processes.
#ifndef WORKER_EXCHANGE_JOB_STREAMS_H_
#define WORKER_EXCHANGE_JOB_STREAMS_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "worker/exchange/job_plan.h"
#include "worker/exchange/job_shape.h"
#include "worker/exchange/peer_streams.h"

namespace bspnow::worker {

/// Who lives where, as the superstep path numbers it. `self` is among the hosts of the plan.
JobShape ShapeOf(const JobPlan& plan, GroupId group, WorkerId self);

/// Hosts are numbered as in the job.
class JobStreams {
 public:
  /// `peers` is the caller's and stays.
  JobStreams(const JobPlan& plan, GroupId group, WorkerId self, PeerStreams& peers);
  ~JobStreams();
  JobStreams(const JobStreams&) = delete;
  JobStreams& operator=(const JobStreams&) = delete;

  /// Why a stream cannot be; empty if all can.
  const std::string& fault() const { return fault_; }

  void Send(std::uint32_t host, std::vector<OutgoingBatch>& frames);

  /// Nobody needs a frame up to this superstep again.
  void Prune(Superstep superstep);

  /// Whether a frame of the group may be sent (again).
  bool Holds() const;

  /// The number of hosts: the worker has no part in this job.
  std::uint32_t HostOf(WorkerId worker) const;

 private:
  const JobId job_;
  const Epoch epoch_;
  const GroupId group_;
  const StreamKey key_;
  PeerStreams& peers_;
  std::vector<SendingStream*> streams_;  ///< By host; nullptr for this one.
  std::unordered_map<WorkerId, std::uint32_t> host_of_;
  std::string fault_;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_JOB_STREAMS_H_
