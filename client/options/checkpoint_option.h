// The argument of --checkpoint: when checkpoints are taken without being asked for.
#ifndef CLIENT_OPTIONS_CHECKPOINT_OPTION_H_
#define CLIENT_OPTIONS_CHECKPOINT_OPTION_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

namespace bspnow::client {

struct CheckpointOption {
  enum class Kind { kAuto, kSupersteps, kTime, kOff };
  Kind kind = Kind::kAuto;
  std::uint64_t every = 0;  ///< Supersteps or milliseconds.
};

/// auto, off, every=N (supersteps), every=DURATION as in 500ms, 30s, 10m, 2h.
absl::StatusOr<CheckpointOption> ParseCheckpointOption(const std::string& text);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_CHECKPOINT_OPTION_H_
