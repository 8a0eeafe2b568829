#include "net/log/unblocked_sink.h"

#include <absl/strings/str_cat.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

namespace bspnow {

// Then a pipe has room for PIPE_BUF bytes, pipe(7).
bool UnblockedSink::CanTake() const {
  pollfd out{.fd = fd_, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0;
}

bool UnblockedSink::Write(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  if (cut_) line.push_back('\n');
  formatter_->format(message, line);
  std::size_t done = 0;
  while (done < line.size()) {
    const std::size_t bytes = std::min<std::size_t>(line.size() - done, PIPE_BUF);
    const ssize_t n = CanTake() ? write(fd_, line.data() + done, bytes) : 0;
    if (n <= 0) return false;  // Not now, or nobody is there any more.
    done += static_cast<std::size_t>(n);
    cut_ = done < line.size();
  }
  return true;
}

void UnblockedSink::sink_it_(const spdlog::details::log_msg& message) {
  if (lost_ != 0) {
    const std::string text = absl::StrCat("event=log_lines_lost lines=", lost_);
    if (!Write({message.logger_name, spdlog::level::warn, text})) {
      lost_ += 1;
      return;
    }
    lost_ = 0;
  }
  if (!Write(message)) lost_ += 1;
}

}  // namespace bspnow
