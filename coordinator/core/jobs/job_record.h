// What is kept of one job: proto/journal.proto's JobRecord, and what the core reads from it as its
// own types.
#ifndef COORDINATOR_CORE_JOBS_JOB_RECORD_H_
#define COORDINATOR_CORE_JOBS_JOB_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/jobs/placement.h"
#include "proto/journal.pb.h"

namespace bspnow::coordinator {

using proto::JobRecord;

/// Monotonic time for deadlines, wall time for lists.
struct Moment {
  std::uint64_t now_ns;
  std::int64_t unix_ms;
};

/// Losses that are kept of one job; the oldest is forgotten for the next.
inline constexpr int kLossesMax = 16;
inline constexpr std::int32_t kRestartsUsual = 3;  ///< Where the spec does not say.

inline JobId IdOf(const JobRecord& record) { return JobId{record.job().job()}; }
inline Epoch EpochOf(const JobRecord& record) { return Epoch{record.job().epoch()}; }
inline WorkerId WorkerOf(const proto::JobHost& host) { return WorkerId{host.worker()}; }

inline bool HasEnded(proto::JobState state) {
  return state == proto::SUCCEEDED || state == proto::FAILED || state == proto::CANCELLED;
}
inline bool HasEnded(const JobRecord& record) { return HasEnded(record.job().state()); }

/// So many nodes release themselves: each pair has a lane (runtime/link/lane.h).
inline constexpr std::size_t kDirectHostsMax = 31;
/// Its processes pass barriers without the coordinator, which is told of it now and then.
inline bool ReleasesItself(const JobRecord& record) {
  return record.hosts_size() == 1 || record.direct();
}

/// "waiting", "running", ...: for messages, logs and metrics.
std::string StateText(proto::JobState state);

/// "job 7 has succeeded", "job 7 is running": to begin a sentence with.
std::string StateSentence(const proto::Job& job);

/// Notes why files that it left were not kept, beside what is known of others, unless that is much:
/// its output has all.
void AddFilesLost(const std::string& why, proto::Job& job);

/// Where it runs or ran; in the order of pids.
std::vector<NodeShare> SharesOf(const JobRecord& record);
/// The names of these nodes.
std::vector<std::string> NodesOf(const JobRecord& record);

/// Of one whose step is not 0 and whose last index is not below its first.
inline std::uint64_t ElementsOf(const proto::ArraySpec& array) {
  return (array.last() - array.first()) / array.step() + 1;
}

/// What the job asks of the cluster.
SlotClaim SlotClaimOf(const proto::JobSpec& spec);
/// Restarts without a checkpoint in between; below 1: none at all.
std::int32_t RestartsMaxOf(const proto::JobSpec& spec);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_RECORD_H_
