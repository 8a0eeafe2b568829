// The directory of a job's images, as bsp-host opens it: on a thread, since a file server that is
// gone holds up whoever asks for anything there, and bsp-host has output to pass on and orders to
// follow.
#ifndef WORKER_HOST_IMAGE_PLACE_H_
#define WORKER_HOST_IMAGE_PLACE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/unique_fd.h"

namespace bspnow::worker {

inline constexpr std::uint64_t kImagePlaceMs = 5'000;

class ImagePlace {
 public:
  using Opener = std::function<absl::StatusOr<UniqueFd>(const std::string& path)>;

  /// `open` may hang, for good; it is called by one thread at a time, which outlives this then.
  ImagePlace(Opener open, std::uint64_t patience_ms)
      : open_(std::move(open)), patience_ms_(patience_ms) {}

  /// Waits for that long at most, and not at all while an earlier call has no answer yet.
  absl::StatusOr<UniqueFd> Take(const std::string& path);

 private:
  struct Opening;

  const Opener open_;
  const std::uint64_t patience_ms_;
  std::shared_ptr<Opening> unanswered_;  ///< Null: none.
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_IMAGE_PLACE_H_
