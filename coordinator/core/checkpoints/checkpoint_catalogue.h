// A job's committed checkpoints as bytes, for the journal.
#ifndef COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_CATALOGUE_H_
#define COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_CATALOGUE_H_

#include <string>

#include <absl/status/statusor.h>
#include "coordinator/core/checkpoints/checkpoint.h"

namespace bspnow::coordinator {

std::string EncodeCatalogue(const CheckpointCatalogue& catalogue);

/// DATA_LOSS if EncodeCatalogue never gave that.
absl::StatusOr<CheckpointCatalogue> DecodeCatalogue(const std::string& bytes);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_CATALOGUE_H_
