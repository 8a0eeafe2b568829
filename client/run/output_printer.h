// Prints the output of the processes on this program's own standard output and error, without ever
// blocking the loop: a reader that is slow slows the processes, not the handling of signals.
#ifndef CLIENT_RUN_OUTPUT_PRINTER_H_
#define CLIENT_RUN_OUTPUT_PRINTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "client/view/open_line.h"
#include "net/event_loop.h"

namespace bspnow::client {

class OutputPrinter {
 public:
  /// Above this much unprinted text `Full` is true, and nothing more should be added.
  static constexpr std::size_t kQueueBytesMax = std::size_t{1} << 20;

  /// Prints to `fd`. `drained` is called when a full queue has become empty; `broken` once, with
  /// the error, if no more can be printed. Later text is dropped.
  OutputPrinter(EventLoop& loop, int fd, std::function<void()> drained,
                std::function<void(int error)> broken);
  ~OutputPrinter();

  /// The descriptor is another file from now on. Nothing has been added yet.
  void TakeAnew();

  /// Adds text of one source (a number that tells sources apart, negative for this program's own).
  /// If the text before it came from another source and had no newline at its end, it gets one, and
  /// that source is returned; else -1.
  int Add(int source, std::string_view text);

  bool full() const { return queue_.size() - printed_ > kQueueBytesMax; }

  /// Nothing waits to be printed.
  bool idle() const { return queue_.empty(); }

 private:
  enum class Progress { kMade, kBlocked, kBroken };

  void Print();
  Progress PrintSome();

  EventLoop& loop_;
  const int given_;
  UniqueFd terminal_;  ///< If `given_` is one, opened a second time; see PrintSome.
  int fd_;             ///< To print to.
  std::function<void()> drained_;
  std::function<void(int error)> broken_;
  std::string queue_;
  std::size_t printed_ = 0;  ///< Of the queue.
  OpenLine line_;
  bool waiting_ = false;  ///< For the descriptor to become writable.
  bool was_full_ = false;
  bool is_broken_ = false;
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_OUTPUT_PRINTER_H_
