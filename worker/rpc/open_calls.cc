#include "worker/rpc/open_calls.h"

#include <utility>

namespace bspnow::worker {

void OpenCalls::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    for (const std::function<void()>& cancel : cancels_) cancel();
  }
  stopped_.notify_all();
}

bool OpenCalls::stopping() const {
  const std::scoped_lock lock(mutex_);
  return stopping_;
}

void OpenCalls::Pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  stopped_.wait_for(lock, time, [this] { return stopping_; });
}

OpenCall::OpenCall(OpenCalls& calls, std::function<void()> cancel) : calls_(calls) {
  const std::scoped_lock lock(calls_.mutex_);
  cancel_ = calls_.cancels_.insert(calls_.cancels_.end(), std::move(cancel));
  if (calls_.stopping_) (*cancel_)();
}

OpenCall::~OpenCall() {
  const std::scoped_lock lock(calls_.mutex_);
  calls_.cancels_.erase(cancel_);
}

}  // namespace bspnow::worker
