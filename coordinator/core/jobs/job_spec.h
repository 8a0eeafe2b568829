// What a client asks for, checked before anything believes it.
#ifndef COORDINATOR_CORE_JOBS_JOB_SPEC_H_
#define COORDINATOR_CORE_JOBS_JOB_SPEC_H_

#include <cstdint>
#include <set>
#include <string>

#include <absl/status/status.h>
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

inline constexpr int kFilesMax = 1000;
inline constexpr int kArgumentsMax = 50'000;
inline constexpr int kVariablesMax = 10'000;
inline constexpr int kConstraintsMax = 100;  ///< As many as a node has labels.
inline constexpr std::size_t kNameBytesMax = 256;
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr int kAfterMax = 10'000;
inline constexpr std::uint64_t kElementsMax = 10'000;  ///< Of an array: what the journal keeps.
inline constexpr std::size_t kArrayBytesMax = std::size_t{256} << 20;  ///< Of memory.
/// Elements of an array, times the jobs that each of them starts after.
inline constexpr std::uint64_t kArrayAfterMax = 100'000;
inline constexpr std::size_t kSpecBytesMax = std::size_t{2} << 20;
inline constexpr std::uint64_t kCheckpointMsLeast = 10;
inline constexpr std::uint64_t kCheckpointMsMax = std::uint64_t{366} * 24 * 3600 * 1000;
/// What lists show, and what is kept of jobs that have ended.
inline constexpr std::size_t kAbridgedBytesMax = 4096;  ///< Of the arguments together.
inline constexpr int kAbridgedCountMax = 100;           ///< Of files, and of jobs before it.
inline constexpr std::int32_t kRestartsMax = 1'000'000;
inline constexpr std::uint64_t kReconnectMsMax = std::uint64_t{7} * 24 * 3600 * 1000;

/// Ok if a job of this kind could run on some cluster; INVALID_ARGUMENT says what is wrong.
absl::Status CheckJobSpec(const proto::JobSpec& spec);

/// The same for a whole array of such jobs.
absl::Status CheckArray(const proto::ArraySpec& array, const proto::JobSpec& spec);

/// Changes the spec of a job. FAILED_PRECONDITION: it would have no effect any more, as the message
/// says; INVALID_ARGUMENT: as CheckJobSpec. On an error nothing is changed.
absl::Status AlterJobSpec(const proto::AlterJobRequest& request, proto::Job& job);

/// Leaves out what may be large, and nobody reads in a list or of a job that has ended: its
/// environment, the ends of long lists, and what a newer client has said that is not known here.
void Abridge(proto::JobSpec& spec);

/// The contents that the job needs: its program's and its files'.
std::set<std::string> ContentsOf(const proto::JobSpec& spec);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_SPEC_H_
