// What the job table is asked for, keeps and tells of one job: plain data.
#ifndef COORDINATOR_CORE_JOBS_JOB_RECORD_H_
#define COORDINATOR_CORE_JOBS_JOB_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/jobs/placement.h"

namespace bspnow {

enum class JobPhase : std::uint32_t {  // Stored: never renumber.
  kWaiting = 1,
  kRunning = 2,
  kEnding = 3,  ///< Being cleared away on its nodes; its files are being collected.
  kSucceeded = 4,
  kFailed = 5,
  kCancelled = 6,
  kRecovering = 7,  ///< An epoch was lost: it is being cleared away, or the next waits for slots.
  kSuspended = 8,   ///< By its user; until resumed.
};

constexpr bool HasEnded(JobPhase phase) {
  return phase == JobPhase::kSucceeded || phase == JobPhase::kFailed ||
         phase == JobPhase::kCancelled;
}

/// What the table must know of a JobSpec.
struct JobRequest {
  SlotClaim claim;
  std::int32_t priority;
  std::uint64_t time_limit_s;    ///< 0: none.
  bool attached;                 ///< Ends when its client leaves.
  bool collects_files;           ///< What pid 0 leaves in the job's directory is kept.
  std::string spec;              ///< The serialized JobSpec; the table only keeps it.
  std::int32_t restarts_max{3};  ///< Without a checkpoint in between; below 1: none at all.
};

/// Monotonic time for deadlines, wall time for lists.
struct Moment {
  std::uint64_t now_ns;
  std::int64_t unix_ms;
};

/// An epoch that was lost, and what became of the job.
struct JobLoss {
  std::int64_t unix_ms = 0;
  std::string reason{};  ///< "worker w3 lost at superstep 812: lease expired".
  Superstep superstep{0};
  bool resumed = false;  ///< The rest is valid.
  bool from_start = false;
  Superstep from{0};
  std::uint64_t after_ms = 0;  ///< From the loss until processes ran again.
};

/// Losses that are kept of one job; the oldest is forgotten for the next.
inline constexpr std::size_t kLossesMax = 16;

/// What is stored and shown of one job.
struct JobRecord {
  JobId id{};
  std::string submission_key{};
  std::string spec{};
  JobPhase phase = JobPhase::kWaiting;
  std::string reason{};  ///< Why it waits or failed.
  int exit_status = 0;
  Epoch epoch{0};
  std::vector<NodeShare> shares{};        ///< Where it runs or ran; in the order of pids.
  std::vector<std::string> node_names{};  ///< Of `shares`.
  std::int64_t submitted_unix_ms = 0;
  std::int64_t started_unix_ms = 0;  ///< Of its first epoch.
  std::int64_t ended_unix_ms = 0;
  bool never_attached = false;
  bool cancelled = false;  ///< By its user.
  std::string totals{};    ///< Of a job that has ended: whatever the rim gave to SetTotals.

  std::vector<JobLoss> losses{};      ///< The last ones, oldest first.
  std::uint32_t restarts = 0;         ///< Behind losses, in all.
  std::uint32_t restarts_in_row = 0;  ///< Since the last commit.
  bool took_input = false;  ///< Pid 0 was sent standard input, which nobody can send again.
  std::int64_t suspended_unix_ms = 0;  ///< Since when; 0: it is not.
  std::int64_t suspended_ms = 0;       ///< Before that; no time limit runs meanwhile.
};

}  // namespace bspnow

#endif  // COORDINATOR_CORE_JOBS_JOB_RECORD_H_
