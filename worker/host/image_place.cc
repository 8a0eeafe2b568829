#include "worker/host/image_place.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/start_thread.h"

namespace bspnow::worker {

struct ImagePlace::Opening {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<absl::StatusOr<UniqueFd>> directory;  ///< Guarded by the mutex.

  bool WaitFor(std::uint64_t ms) {
    std::unique_lock lock(mutex);
    return answered.wait_for(lock, std::chrono::milliseconds(ms),
                             [this] { return directory.has_value(); });
  }
};

absl::StatusOr<UniqueFd> ImagePlace::Take(const std::string& path) {
  const auto silent =
      absl::UnavailableError("the directory of images does not open: does its disk answer?");
  if (unanswered_ && !unanswered_->WaitFor(0)) return silent;
  unanswered_ = std::make_shared<Opening>();
  auto thread = StartThread([opening = unanswered_, open = open_, path] {
    absl::StatusOr<UniqueFd> opened = open(path);
    const std::lock_guard lock(opening->mutex);
    opening->directory.emplace(std::move(opened));
    opening->answered.notify_all();
  });
  if (!thread) {
    unanswered_.reset();
    return absl::ResourceExhaustedError("there is no thread to be had");
  }
  thread->detach();
  if (!unanswered_->WaitFor(patience_ms_)) return silent;
  return *std::move(std::exchange(unanswered_, nullptr)->directory);
}

}  // namespace bspnow::worker
