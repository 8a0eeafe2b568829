// A job, or a group of it, as the superstep path gets it.
#ifndef WORKER_EXCHANGE_JOB_PLAN_H_
#define WORKER_EXCHANGE_JOB_PLAN_H_

#include <string>
#include <vector>

#include "base/ids.h"
#include "net/stream_key.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// One of the workers of a job.
struct PlannedHost {
  WorkerId worker;
  std::string data_address;
  std::string node;  ///< Its name, for messages.
  std::vector<Pid> pids;
};

struct JobPlan {
  JobId job;
  Epoch epoch;
  std::vector<PlannedHost> hosts;
  NodeSegment* segment;  ///< Borrowed until RemoveJob; Placed for these hosts.
  int doorbell;          ///< The worker's end; borrowed. -1 if one host.
  int mailbox = -1;      ///< The same.
  /// p, of an epoch that resumes: bsp_begin was long ago. 0: not known yet.
  std::uint32_t participants = 0;
  /// The nodes release themselves, from the second barrier on: see DirectBarrier.
  bool direct = false;
  StreamKey key{};  ///< StartJob.key; not empty if there are several hosts.
};

/// A group of a job. Beside it is a JobPlan of its members, whose pids are those in the group.
struct PlannedGroup {
  GroupId id = kRootGroup;
  Segment part{};  ///< Its part of the job's segment. Not valid: it is the root group.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_JOB_PLAN_H_
