// The signals that ask bsprun for something, as events of the loop.
#ifndef CLIENT_RUN_SIGNAL_WATCH_H_
#define CLIENT_RUN_SIGNAL_WATCH_H_

#include <functional>

#include "base/unique_fd.h"
#include "net/event_loop.h"

namespace bspnow::client {

class SignalWatch {
 public:
  /// Blocks SIGQUIT, and SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 where they are not ignored,
  /// in this thread and those that it starts, and calls `arrived` for each. Ignores SIGPIPE.
  SignalWatch(EventLoop& loop, std::function<void(int signal)> arrived);
  ~SignalWatch();

  /// Calls `arrived` for what has come, without waiting; for work that does not return to the loop.
  void Look();

 private:
  EventLoop& loop_;
  std::function<void(int signal)> arrived_;
  UniqueFd signals_;
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_SIGNAL_WATCH_H_
