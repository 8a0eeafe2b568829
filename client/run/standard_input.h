// This program's standard input, read for pid 0 of a job elsewhere: only as fast as it is taken
// there, and from a terminal only in the foreground.
#ifndef CLIENT_RUN_STANDARD_INPUT_H_
#define CLIENT_RUN_STANDARD_INPUT_H_

#include <functional>
#include <string>

#include "net/event_loop.h"

namespace bspnow::client {

struct InputEvents {
  /// A piece, of at most 64 KiB; an empty one is the end.
  std::function<void(std::string piece)> read;

  /// There is more, but it cannot be read, and why. Nothing is read any more.
  std::function<void(const std::string& why)> failed;
};

class StandardInput {
 public:
  StandardInput(EventLoop& loop, InputEvents events);
  ~StandardInput();

  /// Reads the next piece, once there is one.
  void Ask();

 private:
  void Watch();
  void Read();

  EventLoop& loop_;
  InputEvents events_;
  TimerId retry_ = kNoTimer;
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_STANDARD_INPUT_H_
