// A job's log without what was printed after a checkpoint: what goes, and the shorter file.
#ifndef COORDINATOR_OUTPUT_LOG_CUT_H_
#define COORDINATOR_OUTPUT_LOG_CUT_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>
#include "coordinator/output/growing_log.h"
#include "coordinator/output/log_record.h"

namespace bspnow::coordinator {

/// How far a stream goes; one that is not named has nothing.
std::uint64_t EndOf(const StreamEnds& ends, const LogStream& stream);

/// How far a process's streams go at this position.
std::array<std::pair<LogOrigin, std::uint64_t>, 2> StreamsOf(const LogPosition& at);

/// What is to be done with a log that goes as far as `ends`. The service's own lines all stay.
LogCut PlanCut(const StreamEnds& ends, const std::vector<LogPosition>& positions);

/// Writes the file again without what lies after these ends, in its place and durable. DATA_LOSS if
/// its records are not all there any more; then it stays as it is.
absl::StatusOr<GrowingLog::Extent> WriteShorter(const GrowingLog& log, const StreamEnds& keep);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OUTPUT_LOG_CUT_H_
