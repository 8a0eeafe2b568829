// What a client asks for, checked before anything believes it.
#ifndef COORDINATOR_JOB_SPEC_H_
#define COORDINATOR_JOB_SPEC_H_

#include <cstdint>
#include <set>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "coordinator/job_table.h"
#include "proto/jobs.pb.h"

namespace bspnow {

inline constexpr std::uint32_t kProcessesMax = 4096;
inline constexpr int kFilesMax = 1000;
inline constexpr std::size_t kSpecBytesMax = std::size_t{2} << 20;

/// Ok if a job of this kind could run on some cluster; INVALID_ARGUMENT says what is wrong.
absl::Status CheckJobSpec(const proto::JobSpec& spec);

/// What the table must know. Of a spec that CheckJobSpec has passed.
JobRequest RequestOf(const proto::JobSpec& spec);

/// The contents that the job needs: its program's and its files'.
std::set<std::string> ContentsOf(const proto::JobSpec& spec);

}  // namespace bspnow

#endif  // COORDINATOR_JOB_SPEC_H_
