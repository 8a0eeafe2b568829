// An epoch of a job that runs, as far as its supersteps go: its barrier, and what they cost.
#ifndef COORDINATOR_CORE_RUNNING_EPOCH_H_
#define COORDINATOR_CORE_RUNNING_EPOCH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/barrier.h"
#include "coordinator/core/standstills.h"
#include "coordinator/core/superstep_stats.h"

namespace bspnow::coordinator {

struct EpochPlan {
  std::uint32_t nprocs;
  std::vector<BarrierHost> hosts;  ///< As in BarrierPlan.
  std::uint32_t participants = 0;  ///< p of an epoch that resumes; 0: bsp_begin will tell.
  Superstep first_superstep{0};    ///< Of an epoch that resumes: as in NodeHeader.
  proto::JobTotals totals{};       ///< To go on from.
  EpochOrigin origin = EpochOrigin::kStarted;
  bool direct = false;  ///< As in BarrierPlan.
  SuperstepRecorders recorders{};
};

/// What a node has said of a barrier that does not move.
struct NodeWait {
  proto::BarrierWait said;
  std::uint64_t since_ns;  ///< It has not moved.
};

/// What a node has said of processes that cannot be saved, because they have groups open, or make
/// collective calls alone.
struct NodeGroups {
  std::uint32_t processes;
  std::uint64_t since_ns;
  bool in_calls;
};

struct RunningEpoch {
  RunningEpoch(Epoch number, EpochPlan plan);

  /// Of an adopted epoch: it went on with this superstep. Only its workers know that.
  void OnResumed(Superstep at);
  /// And its processes were put back there, so that they repeat a superstep. Each host tells.
  void OnPutBack();

  Epoch epoch;
  Barrier barrier;
  std::shared_ptr<SuperstepStats> stats;  ///< Any thread may look at it.
  Superstep first_superstep;
  Superstep superstep;  ///< In which the job is, as it is shown and as far as is known.
  /// That the job had ended before superstep 0 of the epoch's own counting.
  std::uint64_t supersteps_before = 0;
  bool adopted = false;   ///< And nothing has been heard of its supersteps since.
  bool put_back = false;  ///< OnPutBack was called.
  bool broken = false;
  bool totals_wanted = false;                  ///< By a checkpoint, which is of more supersteps.
  std::map<std::string, NodeWait> waits{};     ///< By name of the node.
  std::map<std::string, NodeGroups> groups{};  ///< The same.
  Standstills standstills{};
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_RUNNING_EPOCH_H_
