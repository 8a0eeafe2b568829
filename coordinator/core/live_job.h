// A job that has not ended: all that the cluster knows of it beside what the job table does. What
// decides about its checkpoints, the epoch that starts, who waits.
#ifndef COORDINATOR_CORE_LIVE_JOB_H_
#define COORDINATOR_CORE_LIVE_JOB_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/attachment.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/checkpoints/job_checkpoints.h"
#include "coordinator/core/job_counters.h"
#include "coordinator/core/jobs/job_orders.h"
#include "coordinator/core/printed_bytes.h"
#include "coordinator/core/running_epoch.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// Somebody wants a checkpoint, and something done after it.
struct CheckpointRequest {
  enum class Kind {
    kCheckpoint,  ///< Nothing.
    kSuspend,     ///< The job leaves its nodes until it is resumed.
    kMove,        ///< It leaves a node that is drained, or whose worker is about to end.
  };
  Kind kind;
  std::function<void(absl::StatusOr<proto::Job>)> answer;  ///< May be empty.
  std::uint64_t caller = 0;  ///< WaitId::number of who waits for the answer.
  std::uint64_t number = 0;  ///< Of the checkpoint that serves it; 0: it has not begun.
};

/// A caller that waits for a job to end, or for a checkpoint of it.
struct WaitId {
  JobId job{0};
  std::uint64_t number = 0;
};

struct LiveJob {
  using OnSubmitted = std::function<void(absl::StatusOr<JobId>)>;
  using OnJob = std::function<void(absl::StatusOr<proto::Job>)>;

  LiveJob(const CheckpointRule& rule, const CheckpointLimits& limits,
          const JobCheckpoints::Plan& plan)
      : policy(rule, limits), checkpoints(plan) {}

  /// Who waits until the job is durable; of an array: the first one's.
  std::vector<OnSubmitted> submissions{};
  std::map<std::uint64_t, OnJob> waits{};  ///< By WaitId::number; answered when it has ended.
  std::string files_wait{};                ///< Why those that it left have not come yet.
  std::map<std::uint64_t, std::uint64_t> storing_since_ns{};  ///< Transitions under way, by number.
  absl::Status refusal{};  ///< Of the last one, by the journal; OK: it has that.
  /// A user has asked for something that is done, and is answered when this transition is stored.
  struct Done {
    std::uint64_t transition;  ///< 0: the next one.
    OnJob answer;
  };
  std::vector<Done> done{};
  PrintedBytes printed{};                  ///< In all epochs that count.
  std::optional<Attachment> attachment{};  ///< If its client is to stay with it, and has not left.

  /// From the journal, which may be an older copy: the log has what a forgotten run has printed.
  bool restored = false;

  /// By a user, since the coordinator was started, and nobody has suspended it since.
  bool resumed = false;

  std::uint64_t counted_loss_ns = 0;  ///< Job::lost_ns of the last loss that counters have.

  bool WaitsToMove() const {
    return std::any_of(requests.begin(), requests.end(), [](const CheckpointRequest& request) {
      return request.kind == CheckpointRequest::Kind::kMove;
    });
  }

  std::optional<RunningEpoch> running{};  ///< From its start until it has left its nodes.
  JobCounters counters{};                 ///< Without `running`.

  CheckpointPolicy policy;
  JobCheckpoints checkpoints;
  Epoch epoch{0};         ///< That runs; 0: none.
  bool from_main = true;  ///< Its processes all began in `main`.
  std::vector<CheckpointRequest> requests{};
  std::vector<CheckpointRequest> suspending{};  ///< To be answered when it has left its nodes.
  /// Since when another one would be due, or a node keeps others waiting, and nothing was heard of
  /// the one under way; 0: not.
  std::uint64_t overdue_since_ns = 0;
  /// It could not be saved for a move: when to try again, and how long that is put off.
  std::uint64_t move_again_ns = 0;
  std::uint64_t move_wait_ns = 0;
  CheckpointHistory history{};  ///< Its times are as of the last write.
  /// Of images of this checkpoint a node has found no undamaged copy; 0: of none.
  std::uint64_t doubted_checkpoint = 0;

  /// An epoch that is placed, and waits until the log is cut back or images are to be had.
  std::optional<StartOrder> starting{};
  std::uint64_t resumes_from = 0;    ///< What the log is being cut back to; 0: the start.
  bool cutting = false;              ///< Journal and log are being written for it.
  std::string start_refusal{};       ///< Of the journal, the last time; empty: none since.
  std::uint64_t waits_since_ns = 0;  ///< For nodes that hold images; 0: it does not.

  /// In which it is, as it is shown and as far as is known.
  Superstep superstep() const { return running ? running->superstep : Superstep{0}; }
  /// The one that its last checkpoint begins may be known before the barrier at which it was taken.
  Superstep reached() const {
    const Checkpoint* const last = checkpoints.last();
    return last == nullptr ? superstep() : std::max(superstep(), last->superstep);
  }
  /// p; 0 if it is not known.
  std::uint32_t participants() const { return running ? running->barrier.processes() : 0; }

  /// Nodes have come or gone, or the last checkpoint is another one.
  void CountCopies(const LiveNodes& live) {
    policy.OnCopies(checkpoints.LacksCopies(live) ? CheckpointPolicy::Copies::kTooFew
                                                  : CheckpointPolicy::Copies::kEnough);
  }

  /// Nobody could be heard for this long.
  void OnPaused(std::uint64_t ns, std::uint64_t now_ns) {
    for (std::uint64_t* const since_ns : {&waits_since_ns, &overdue_since_ns})
      if (*since_ns != 0) *since_ns = std::min(*since_ns + ns, now_ns);
    if (attachment) attachment->OnPaused(ns, now_ns);
  }

  std::vector<Done> TakeDone(std::uint64_t stored) {
    std::vector<Done> taken;
    for (Done& each : std::exchange(done, {}))
      (each.transition != 0 && each.transition <= stored ? taken : done).push_back(std::move(each));
    return taken;
  }

  /// Of all who wait for its end, or for what they asked for to be stored.
  std::vector<OnJob> TakeAnswers() {
    std::vector<OnJob> answers;
    for (auto& [number, answer] : std::exchange(waits, {})) answers.push_back(std::move(answer));
    for (Done& each : std::exchange(done, {})) answers.push_back(std::move(each.answer));
    return answers;
  }

  /// All who wait for anything else.
  std::vector<CheckpointRequest> TakeRequests() {
    std::vector<CheckpointRequest> taken = std::exchange(requests, {});
    for (CheckpointRequest& request : std::exchange(suspending, {}))
      taken.push_back(std::move(request));
    return taken;
  }

  /// What has not begun for it need not begin; what has goes on.
  void OnCallerLeft(std::uint64_t caller) {
    waits.erase(caller);
    const auto is_its = [caller](const CheckpointRequest& each) { return each.caller == caller; };
    std::erase_if(suspending, is_its);
    std::erase_if(requests, [&](const auto& each) { return is_its(each) && each.number == 0; });
    for (CheckpointRequest& request : requests)
      if (is_its(request)) request.answer = nullptr;
  }

  /// The epoch is lost, and with it the checkpoint that was to serve them: who wants the job off
  /// its nodes has it off as it is.
  void NeedNoCheckpointToSuspend() {
    for (CheckpointRequest& request : requests)
      if (request.kind == CheckpointRequest::Kind::kSuspend) request.number = 0;
  }

  bool HasPendingRequest() const {
    for (const CheckpointRequest& request : requests)
      if (request.number == 0) return true;
    return false;
  }
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_LIVE_JOB_H_
