// Which waiting job starts now, and where: a pure function of the cluster's situation.
//
// Gang: a job starts when all its slots are there. First come, first served within a priority. A
// job passes others only where it delays none of them (backfill): each job that must wait is
// promised the earliest time at which it fits, by the time limits of what runs, and nobody is
// placed into a promise. See "Jobs" in docs/design.md.
#ifndef COORDINATOR_CORE_JOBS_SCHEDULER_H_
#define COORDINATOR_CORE_JOBS_SCHEDULER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/jobs/placement.h"

namespace bspnow::coordinator {

struct RunningClaim {
  JobId job;
  std::vector<NodeShare> shares;
  std::uint64_t memory_bytes;  ///< Per process.
  std::uint64_t end_ns;        ///< By its time limit; kNoEnd if it has none.
};

inline constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

/// Who comes first within a priority.
enum class Turn : std::uint32_t {
  kFirst,  ///< It ran already, and lost its place.
  kByAge,  ///< The smaller id.
};

struct WaitingClaim {
  JobId job;
  SlotClaim claim;
  std::int32_t priority;        ///< Higher starts first; within one, by turn, then the smaller id.
  std::uint64_t time_limit_ns;  ///< 0: none.
  Turn turn = Turn::kByAge;
};

struct Situation {
  std::uint64_t now_ns;
  std::vector<SchedulerNode> nodes;   ///< That are up.
  std::vector<RunningClaim> running;  ///< In the order in which they started.
  std::vector<WaitingClaim> waiting;  ///< In any order.
};

struct PlannedStart {
  JobId job;
  std::vector<NodeShare> shares;  ///< pids in blocks, in the order of the shares.
};

/// The end of a reason: what else helps a job that is submitted anew.
inline constexpr char kOrOversubscribe[] = " or use --oversubscribe";

struct WaitingReason {
  JobId job;
  std::string reason;  ///< "needs 8 slots, 3 free".
};

struct SchedulePlan {
  std::vector<PlannedStart> starts;
  std::vector<WaitingReason> waits;  ///< All that do not start, with why.
};

/// Jobs that could start some day and are looked at in one call, in their order; those after them
/// wait.
inline constexpr std::size_t kBackfillDepth = 64;

SchedulePlan PlanJobs(const Situation& situation);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_SCHEDULER_H_
