// Which coordinators a worker obeys: those of the cluster whose jobs and images it keeps, and no
// older one than it has ever met, whatever restarts. See "Clusters" in docs/design.md.
#ifndef WORKER_CORE_KNOWN_COORDINATOR_H_
#define WORKER_CORE_KNOWN_COORDINATOR_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "proto/workers.pb.h"

namespace bspnow::worker {

/// The last one that was obeyed.
struct KnownCoordinator {
  std::string cluster;         ///< Empty: nothing that is kept here is of any cluster.
  std::uint64_t term = 0;      ///< Never goes back within a cluster.
  std::uint64_t term_key = 0;  ///< Of the run that had this term; 0: not known.
};

/// What `known` is once the worker obeys the coordinator that answered `request` with `reply`.
/// FAILED_PRECONDITION: it may not, and the message says why.
absl::StatusOr<KnownCoordinator> CheckCoordinator(const KnownCoordinator& known,
                                                  const proto::RegisterRequest& request,
                                                  const proto::RegisterReply& reply);

}  // namespace bspnow::worker

#endif  // WORKER_CORE_KNOWN_COORDINATOR_H_
