// What the coordinator's metrics show, as one moment's snapshot.
#ifndef COORDINATOR_CORE_CLUSTER_FIGURES_H_
#define COORDINATOR_CORE_CLUSTER_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/histogram.h"
#include "coordinator/core/job_counters.h"
#include "coordinator/core/superstep_stats.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// A job that has ended is shown for so long, so that each of a few scrapes sees its last values,
/// and no more of them: jobs of a second may come in thousands.
inline constexpr std::uint64_t kEndedShownNs = 300'000'000'000;
inline constexpr std::size_t kEndedShownMax = 1000;

/// Of all jobs, since the start.
struct CheckpointFigures {
  static constexpr std::uint64_t kPauseBaseNs = 10'000;
  static constexpr std::uint64_t kRecoveryBaseNs = 10'000'000;

  std::map<std::string, std::uint64_t> ended = {{"committed", 0}, {"given_up", 0}};
  std::map<std::string, std::uint64_t> recoveries = {{"process", 0}, {"worker", 0}, {"other", 0}};
  std::uint64_t bytes = 0;    ///< Of committed images.
  std::uint64_t damaged = 0;  ///< Checkpoints that could not be put back.
  std::uint64_t suspensions = 0;
  std::shared_ptr<Histogram> pause_ns = std::make_shared<Histogram>(kPauseBaseNs);
  std::shared_ptr<Histogram> recovery_ns = std::make_shared<Histogram>(kRecoveryBaseNs);
};

/// Of a job that has run.
struct JobFigures {
  /// Id, name, user, state, totals and checkpoints, as `bsp show` has it; of waits, the unusual.
  proto::Job shown;
  JobCounters counters;
  std::uint64_t checkpoint_ns;  ///< That its checkpoints have cost it since the start.
  /// What a loss would take from it: since the last commit, or since this epoch's processes run if
  /// that is later. None: it does not run now, or takes no checkpoints.
  std::optional<std::uint64_t> unsaved_ns;
};

/// Of all jobs, since the start.
struct QueueFigures {
  static constexpr std::uint64_t kWaitBaseNs = 1'000'000;

  std::map<std::string, std::uint64_t> ended = {{"succeeded", 0}, {"failed", 0}, {"cancelled", 0}};
  /// From submission to the first start.
  std::shared_ptr<Histogram> wait_ns = std::make_shared<Histogram>(kWaitBaseNs);
};

struct NodeFigures {
  std::string name;
  bool up;
  bool rests;                  ///< It could not start jobs that others could.
  std::uint64_t lease_age_ns;  ///< While it is up.
};

struct ClusterFigures {
  std::map<std::string, std::uint64_t> jobs;     ///< By state.
  std::map<std::string, std::uint64_t> workers;  ///< By state: up, drained, lost.
  std::uint64_t oldest_wait_ns = 0;              ///< Of the job that waits longest; 0: none does.
  std::uint64_t slots_used = 0;
  std::uint64_t slots_free = 0;
  std::vector<NodeFigures> nodes;
  std::vector<JobFigures> of_jobs;
  std::map<std::string, std::uint64_t> refused;  ///< Frames by reason, since the start.
  std::uint64_t calls_refused = 0;               ///< For want of a proof, or of rights.
  std::uint64_t connections = 0;                 ///< Of workers, for frames.
  std::uint64_t control_streams = 0;
  std::uint64_t barriers = 0;
  std::uint64_t bytes_read = 0;  ///< In frames.
  std::uint64_t bytes_written = 0;
  std::uint64_t output_bytes = 0;  ///< That jobs printed.
  std::uint64_t term = 0;
  CheckpointFigures checkpoints;
  QueueFigures queue;
  std::shared_ptr<const SuperstepHistograms> supersteps;
  std::optional<Histogram::Snapshot> journal_sync_ns{};  ///< Of a journal on a disk.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CLUSTER_FIGURES_H_
