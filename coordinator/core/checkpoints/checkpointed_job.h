// A job that has not ended, as far as its checkpoints go: what decides about them, and who waits
// for one. Of Cluster, on the loop's thread.
#ifndef COORDINATOR_CORE_CHECKPOINTS_CHECKPOINTED_JOB_H_
#define COORDINATOR_CORE_CHECKPOINTS_CHECKPOINTED_JOB_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/checkpoints/job_checkpoints.h"
#include "coordinator/core/jobs/job_orders.h"
#include "proto/jobs.pb.h"

namespace bspnow {

/// Somebody wants a checkpoint, and something done behind it.
struct CheckpointRequest {
  enum class Kind {
    kCheckpoint,  ///< Nothing.
    kSuspend,     ///< The job leaves its nodes until it is resumed.
    kMove,        ///< It leaves a node that is drained.
  };
  Kind kind;
  std::function<void(absl::StatusOr<proto::Job>)> answer;  ///< May be empty.
  std::uint64_t number = 0;  ///< Of the checkpoint that serves it; 0: it has not begun.
};

struct CheckpointedJob {
  CheckpointedJob(const CheckpointRule& rule, const CheckpointLimits& limits,
                  const JobCheckpoints::Plan& plan)
      : policy(rule, limits), checkpoints(plan) {}

  CheckpointPolicy policy;
  JobCheckpoints checkpoints;
  Epoch epoch{0};         ///< That runs; 0: none.
  bool from_main = true;  ///< Its processes all began in `main`.
  std::vector<CheckpointRequest> requests{};
  std::vector<CheckpointRequest> suspending{};  ///< To be answered when it has left its nodes.
  /// Since when another one would be due, and nothing was heard of the one under way; 0: not.
  std::uint64_t overdue_since_ns = 0;
  CheckpointHistory history{};          ///< Its times are as of the last write.
  std::uint32_t failures_with_one = 0;  ///< To go back to the same checkpoint.

  /// An epoch that is placed, and waits until the log is cut back or images are to be had.
  std::optional<StartOrder> starting{};
  std::uint64_t resumes_from = 0;    ///< What the log is being cut back to; 0: the start.
  bool cutting = false;              ///< Journal and log are being written for it.
  std::uint64_t waits_since_ns = 0;  ///< For nodes that hold images; 0: it does not.

  /// Nodes have come or gone, or the last checkpoint is another one.
  void CountCopies(const LiveNodes& live) {
    policy.OnCopies(checkpoints.LacksCopies(live) ? CheckpointPolicy::Copies::kTooFew
                                                  : CheckpointPolicy::Copies::kEnough);
  }

  /// All who wait for anything.
  std::vector<CheckpointRequest> TakeRequests() {
    std::vector<CheckpointRequest> taken = std::exchange(requests, {});
    for (CheckpointRequest& request : std::exchange(suspending, {}))
      taken.push_back(std::move(request));
    return taken;
  }

  bool HasPendingRequest() const {
    for (const CheckpointRequest& request : requests)
      if (request.number == 0) return true;
    return false;
  }
};

}  // namespace bspnow

#endif  // COORDINATOR_CORE_CHECKPOINTS_CHECKPOINTED_JOB_H_
