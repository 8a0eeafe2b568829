#include "worker/core/known_coordinator.h"

#include <absl/strings/str_cat.h>

namespace bspnow::worker {

// The coordinator makes the same check. The worker repeats it, because a mistake would cost images.
absl::StatusOr<KnownCoordinator> CheckCoordinator(const KnownCoordinator& known,
                                                  const proto::RegisterRequest& request,
                                                  const proto::RegisterReply& reply) {
  if (reply.worker() != 0 && reply.cluster() == known.cluster) {
    const bool another =
        reply.term() == known.term && known.term_key != 0 && reply.term_key() != known.term_key;
    if (reply.term() >= known.term && !another)
      return KnownCoordinator{reply.cluster(), reply.term(), reply.term_key()};
    return absl::FailedPreconditionError(
        absl::StrCat("a coordinator of term ", reply.term(), " answers, but there has been ",
                     another ? "another" : "one", " of term ", known.term));
  }
  const bool keeps = request.stored_size() != 0 || request.held_size() != 0 ||
                     request.unfinished() || !request.images_share().empty();
  if (reply.worker() != 0 && (known.cluster.empty() || !keeps)) {
    return KnownCoordinator{reply.cluster(), reply.term(), reply.term_key()};
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "it is the coordinator of cluster ", reply.cluster(), ", but checkpoints of ",
      request.stored_size(), " jobs and ", request.held_size(), " running jobs of cluster ",
      known.cluster, " are kept here", request.unfinished() ? ", and more may come" : "",
      "; start the coordinator with the --state-dir that it had"));
}

}  // namespace bspnow::worker
