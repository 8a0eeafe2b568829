// The signals that ask bsprun for something, as events of the loop.
#ifndef CLIENT_RUN_SIGNAL_WATCH_H_
#define CLIENT_RUN_SIGNAL_WATCH_H_

#include <signal.h>

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

  /// One more, where it is not ignored.
  void Watch(int signal);

  /// A pipe that nobody reads ends this program again, if it did before.
  void LetPipesEnd();

  /// Calls `arrived` for what has come, without waiting; for work that does not return to the loop.
  void Look();

  /// What comes from now on has the effect that it had before.
  void Stop();

 private:
  EventLoop& loop_;
  std::function<void(int signal)> arrived_;
  sigset_t watched_;
  sigset_t before_;              ///< What was blocked,
  void (*before_of_pipe_)(int);  ///< and what SIGPIPE did.
  UniqueFd signals_;
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_SIGNAL_WATCH_H_
