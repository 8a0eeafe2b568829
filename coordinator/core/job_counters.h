// What a job has done since this coordinator started, as counters that never go back. What a job's
// totals say goes back with it to a checkpoint; the time of a repeated superstep passed twice.
#ifndef COORDINATOR_CORE_JOB_COUNTERS_H_
#define COORDINATOR_CORE_JOB_COUNTERS_H_

#include <cstdint>
#include <memory>

#include "coordinator/core/histogram.h"
#include "coordinator/core/superstep_stats.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

struct JobCounters {
  proto::JobTotals sums{};  ///< Of epochs that are over: only what JobTotals adds up is valid.
  std::uint64_t recoveries = 0;
  std::uint64_t recovery_ns = 0;  ///< From losses until processes ran again.
  std::uint64_t checkpoints_committed = 0;
  std::uint64_t checkpoints_given_up = 0;
  std::uint64_t checkpoints_spent_from = 0;  ///< CheckpointPolicy::spent_ns before this start.
  std::shared_ptr<Histogram> superstep_ns =
      std::make_shared<Histogram>(SuperstepHistograms::kTimeBaseNs);

  /// What an epoch has done so far, added.
  void Add(const SuperstepStats& epoch);
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOB_COUNTERS_H_
