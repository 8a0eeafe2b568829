// What a stub waits for: calls that are under way, and the pauses between tries. Stop breaks all of
// that off, so that the daemon ends soon.
#ifndef WORKER_RPC_OPEN_CALLS_H_
#define WORKER_RPC_OPEN_CALLS_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

namespace bspnow::worker {

/// All calls may come from any thread.
class OpenCalls {
 public:
  /// Cancels what is open, and whatever is opened later; ends all pauses.
  void Stop();

  bool stopping() const;

  /// Waits for this time, or until Stop.
  void Pause(std::chrono::milliseconds time);

 private:
  friend class OpenCall;
  using Cancels = std::list<std::function<void()>>;

  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  Cancels cancels_;  ///< Guarded by mutex_, as is the next.
  bool stopping_ = false;
};

/// One call, from before it begins until after its end.
class OpenCall {
 public:
  /// `cancel` is called once or never, maybe before the call has begun; it must not wait.
  OpenCall(OpenCalls& calls, std::function<void()> cancel);
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  ~OpenCall();

 private:
  OpenCalls& calls_;
  OpenCalls::Cancels::iterator cancel_;
};

}  // namespace bspnow::worker

#endif  // WORKER_RPC_OPEN_CALLS_H_
