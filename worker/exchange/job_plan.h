// A job as the superstep path gets it.
#ifndef WORKER_EXCHANGE_JOB_PLAN_H_
#define WORKER_EXCHANGE_JOB_PLAN_H_

#include <string>
#include <vector>

#include "base/ids.h"
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
  /// p, of an epoch that resumes: bsp_begin was long ago. 0: not known yet.
  std::uint32_t participants = 0;
  /// The nodes release themselves, from the second barrier on: see DirectBarrier.
  bool direct = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_JOB_PLAN_H_
