// This program's standard input, read for pid 0 of a job elsewhere: only as fast as it is taken
// there, and from a terminal only in the foreground.
#ifndef CLIENT_RUN_STANDARD_INPUT_H_
#define CLIENT_RUN_STANDARD_INPUT_H_

#include <functional>
#include <string>

#include "net/event_loop.h"

namespace bspnow::client {

class StandardInput {
 public:
  /// `read` gets each piece, at most 64 KiB, and an empty one at the end.
  StandardInput(EventLoop& loop, std::function<void(std::string piece)> read);
  ~StandardInput();

  /// Reads the next piece, once there is one.
  void Ask();

 private:
  void Watch();
  void Read();

  EventLoop& loop_;
  std::function<void(std::string piece)> read_;
  TimerId retry_ = kNoTimer;
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_STANDARD_INPUT_H_
