// What the coordinator's metrics show, as one moment's snapshot.
#ifndef COORDINATOR_CORE_CLUSTER_FIGURES_H_
#define COORDINATOR_CORE_CLUSTER_FIGURES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/superstep_stats.h"

namespace bspnow::coordinator {

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

struct ClusterFigures {
  struct Lease {
    std::string name;
    std::uint64_t age_ns;
  };

  std::map<std::string, std::uint64_t> jobs;     ///< By state.
  std::map<std::string, std::uint64_t> workers;  ///< By state: up, drained, lost.
  std::uint64_t slots_used = 0;
  std::uint64_t slots_free = 0;
  std::vector<Lease> leases;
  std::map<JobId, std::shared_ptr<const SuperstepStats>> running;
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
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CLUSTER_FIGURES_H_
