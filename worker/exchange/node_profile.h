// The profile of a job's processes that are here, as they have recorded it in their segment.
#ifndef WORKER_EXCHANGE_NODE_PROFILE_H_
#define WORKER_EXCHANGE_NODE_PROFILE_H_

#include <vector>

#include "base/ids.h"
#include "proto/profile.pb.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// Of `pids`, but for those that have left in bsp_begin. Any time; whatever the processes have
/// written there.
proto::Profile ProfileOf(const NodeSegment& segment, const std::vector<Pid>& pids);

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_NODE_PROFILE_H_
