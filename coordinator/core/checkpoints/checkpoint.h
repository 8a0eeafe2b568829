// What the coordinator knows of one checkpoint that was committed; what its journal keeps of it.
#ifndef COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_H_
#define COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/jobs/process_ends.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// The image of one process.
struct SavedImage {
  Pid pid;
  std::uint64_t file_bytes;
  std::uint64_t output_bytes;  ///< Printed on stdout until then, and stderr.
  std::uint64_t error_bytes;
};

/// What one node saved, and where it lies.
struct CheckpointPart {
  std::string host;                  ///< Nodes go by their names: they outlive their workers.
  std::vector<SavedImage> images;    ///< Ascending; the first one's pid names the node's files.
  std::vector<std::string> holders;  ///< The host first. Each has the whole chain.
  std::string share;                 ///< All nodes that share this directory are holders; or empty.
  /// Were holders, and said at a registration that they have nothing of it. They may say otherwise
  /// at the next one: what came was an old call, or their disk is back.
  std::vector<std::string> former{};
};

struct Checkpoint {
  std::uint64_t number = 0;  ///< From 1, ascending, in its job.
  std::uint64_t base = 0;    ///< The one that it builds upon; 0: none.
  Superstep superstep{0};    ///< That begins when bsp_sync returns.
  std::uint32_t participants = 0;
  bool of_areas = false;
  std::vector<std::string> cpu_features{};  ///< That a node must have to go on with it; sorted.
  std::vector<CheckpointPart> parts{};      ///< By the first pid.
  std::vector<Printed> left{};              ///< By processes that had ended, and are not put back.
  CheckpointCost cost{};
  std::int64_t committed_unix_ms = 0;
  proto::JobTotals totals{};  ///< Of the job until then.

  std::uint64_t file_bytes() const {
    std::uint64_t bytes = 0;
    for (const CheckpointPart& part : parts)
      for (const SavedImage& image : part.images) bytes += image.file_bytes;
    return bytes;
  }
};

/// What `bsp show` tells and the policy needs of what has been, though no checkpoint does.
struct CheckpointHistory {
  std::uint64_t given_up = 0;
  std::string last_failure{};       ///< Why the last of these was.
  std::uint64_t spent_ns = 0;       ///< As CheckpointPolicy's.
  std::uint64_t run_ns = 0;         ///< As CheckpointPolicy's.
  proto::JobTotals epoch_totals{};  ///< Of the job when its epoch began.
};

/// What the journal keeps of a job's checkpoints.
struct CheckpointCatalogue {
  std::uint64_t last_number = 0;        ///< That was in use when it was written.
  std::uint64_t count = 0;              ///< Committed in all.
  std::uint64_t term = 0;               ///< Of the coordinator that wrote it.
  std::vector<Checkpoint> checkpoints;  ///< Committed, ascending; all that are to be kept.
  CheckpointHistory history{};          ///< The cluster's.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_H_
