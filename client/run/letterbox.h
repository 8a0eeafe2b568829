// What threads have for a loop that may end before they do: it is posted there, and then dropped.
#ifndef CLIENT_RUN_LETTERBOX_H_
#define CLIENT_RUN_LETTERBOX_H_

#include <mutex>
#include <utility>

#include "net/event_loop.h"

namespace bspnow::client {

class Letterbox {
 public:
  explicit Letterbox(EventLoop& loop) : loop_(&loop) {}

  /// From any thread.
  void Post(EventLoop::Callback work) {
    const std::scoped_lock lock(mutex_);
    if (loop_ != nullptr) loop_->Post(std::move(work));
  }

  /// On the loop's thread, before it ends.
  void Close() {
    const std::scoped_lock lock(mutex_);
    loop_ = nullptr;
  }

 private:
  std::mutex mutex_;
  EventLoop* loop_;  ///< Guarded by mutex_. Null once closed.
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_LETTERBOX_H_
