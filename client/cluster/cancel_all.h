// Cancels many jobs. See CancelJob in proto/jobs.proto.
#ifndef CLIENT_CLUSTER_CANCEL_ALL_H_
#define CLIENT_CLUSTER_CANCEL_ALL_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "client/cluster/jobs_stub.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

/// Each of these jobs, many at a time: a call ends when the coordinator's disk has it. `done` is
/// called for each in their order.
void CancelAll(JobsStub& stub, const std::vector<std::uint64_t>& ids,
               const std::function<void(const absl::StatusOr<proto::Job>& job)>& done);

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_CANCEL_ALL_H_
