#include "worker/rpc/silence_watch.h"

#include <utility>

#include "base/start_thread.h"

namespace bspnow::worker {

SilenceWatch::SilenceWatch(std::chrono::milliseconds patience, std::function<void()> cancel)
    : cancel_(std::move(cancel)),
      patience_(patience),
      thread_(StartThread([this](const std::stop_token& stop) { Run(stop); })) {
  if (thread_) return;
  fired_ = true;
  cancel_();
}

void SilenceWatch::ExpectSync(std::uint64_t bytes) {
  patience_ = patience_.load() + std::chrono::milliseconds(bytes / kSyncedBytesPerMsLeast);
  moved_ = true;
}

void SilenceWatch::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (moved_.exchange(false)) {
    never_.wait_for(lock, stop, patience_.load(), [] { return false; });
    if (stop.stop_requested()) return;
  }
  fired_ = true;
  cancel_();
}

}  // namespace bspnow::worker
