#include "client/run/output_printer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bspnow::client {
namespace {

// A descriptor of our own for the terminal that `fd` is; invalid if it is none.
UniqueFd OpenTerminal(int fd) {
  if (!isatty(fd)) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return UniqueFd(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

}  // namespace

OutputPrinter::OutputPrinter(EventLoop& loop, int fd, std::function<void()> drained,
                             std::function<void(int error)> broken)
    : loop_(loop),
      given_(fd),
      terminal_(OpenTerminal(given_)),
      fd_(terminal_.valid() ? terminal_.get() : given_),
      drained_(std::move(drained)),
      broken_(std::move(broken)) {}

OutputPrinter::~OutputPrinter() {
  if (waiting_) loop_.Forget(fd_);
}

void OutputPrinter::TakeAnew() {
  terminal_ = OpenTerminal(given_);
  fd_ = terminal_.valid() ? terminal_.get() : given_;
}

int OutputPrinter::Add(int source, std::string_view text) {
  if (text.empty() || is_broken_) return -1;
  const std::optional<int> broken_off = line_.Next(source, text);
  if (broken_off) queue_ += '\n';
  queue_ += text;
  was_full_ |= full();
  if (!waiting_) Print();
  return broken_off.value_or(-1);
}

// A pipe or socket that polls as writable takes PIPE_BUF bytes at least without blocking. It is not
// ours to make non-blocking, since others share it; a terminal, which makes no such promise, can be
// opened a second time.
OutputPrinter::Progress OutputPrinter::PrintSome() {
  pollfd ready{fd_, POLLOUT, 0};
  if (poll(&ready, 1, 0) == 0) return Progress::kBlocked;
  const std::size_t bytes = std::min<std::size_t>(queue_.size() - printed_, PIPE_BUF);
  const ssize_t n = write(fd_, queue_.data() + printed_, bytes);
  if (n < 0 && errno == EAGAIN) return Progress::kBlocked;
  if (n < 0 && errno != EINTR) {
    const int error = errno;
    is_broken_ = true;
    queue_.clear();
    printed_ = 0;
    broken_(error);
    return Progress::kBroken;
  }
  printed_ += n > 0 ? static_cast<std::size_t>(n) : 0;
  if (printed_ == queue_.size()) {
    queue_.clear();
    printed_ = 0;
  }
  return Progress::kMade;
}

void OutputPrinter::Print() {
  while (!queue_.empty()) {
    const Progress progress = PrintSome();
    if (progress == Progress::kBroken) break;
    if (progress == Progress::kMade) continue;
    waiting_ = loop_.OnWritable(fd_, [this] {
      loop_.Forget(fd_);
      waiting_ = false;
      Print();
    });
    if (waiting_) return;
  }
  if (std::exchange(was_full_, false)) drained_();
}

}  // namespace bspnow::client
