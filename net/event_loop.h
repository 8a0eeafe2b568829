// One thread's loop over descriptors and one timer: the rim where things happen. Owns no
// descriptor; calls back on the thread that runs it.
#ifndef NET_EVENT_LOOP_H_
#define NET_EVENT_LOOP_H_

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "base/unique_fd.h"

namespace bspnow {

class EventLoop {
 public:
  using Callback = std::function<void()>;

  EventLoop();

  /// Calls `ready` whenever `fd` can be read, or has ended. The descriptor must stay open until
  /// Forget.
  void OnReadable(int fd, Callback ready);

  /// Calls `ready` whenever `fd` can be written. False for what cannot be waited for (a file).
  bool OnWritable(int fd, Callback ready);

  void Forget(int fd);

  /// Calls `due` once, `after_ms` from now; replaces an earlier timer.
  void SetTimer(std::uint64_t after_ms, Callback due);
  void CancelTimer() { timer_ = nullptr; }

  /// Waits for something to happen and handles it.
  void RunOnce();

  /// Runs until Stop is called.
  void Run();
  void Stop() { stopped_ = true; }

 private:
  bool Add(int fd, std::uint32_t events, Callback ready);
  int MillisecondsToTimer() const;

  UniqueFd epoll_;
  std::unordered_map<int, Callback> callbacks_;
  Callback timer_;
  std::uint64_t timer_due_ns_ = 0;
  bool stopped_ = false;
};

}  // namespace bspnow

#endif  // NET_EVENT_LOOP_H_
