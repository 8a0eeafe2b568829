#include "worker/job/input_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bspnow::worker {

InputPipe::InputPipe(EventLoop& loop, std::function<void(std::uint64_t bytes)> taken)
    : loop_(loop), taken_(std::move(taken)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  read_end_ = UniqueFd(ends[0]);
  write_end_ = UniqueFd(ends[1]);
  fcntl(write_end_.get(), F_SETFL, O_NONBLOCK);  // Not the end that the program inherits.
}

InputPipe::~InputPipe() {
  if (write_end_.valid()) loop_.Forget(write_end_.get());
}

bool InputPipe::Write(std::uint64_t offset, const std::string& bytes) {
  if (offset > received_bytes_) return false;
  const std::uint64_t known = std::min<std::uint64_t>(received_bytes_ - offset, bytes.size());
  pending_ += bytes.substr(known);
  received_bytes_ += bytes.size() - known;
  owes_answer_ = true;
  if (!waiting_) Flush();
  return true;
}

void InputPipe::Close() {
  closing_ = true;
  if (!waiting_) Flush();
}

void InputPipe::Flush() {
  waiting_ = false;
  while (!pending_.empty() && write_end_.valid()) {
    const ssize_t n = write(write_end_.get(), pending_.data(), pending_.size());
    if (n < 0 && errno == EAGAIN) {
      waiting_ = loop_.OnWritable(write_end_.get(), [this] { Flush(); });
      return;
    }
    if (n < 0) break;  // EPIPE: pid 0 does not read any more.
    pending_.erase(0, static_cast<std::size_t>(n));
  }
  pending_.clear();
  if (write_end_.valid()) loop_.Forget(write_end_.get());
  if (closing_) write_end_.Reset();
  if (std::exchange(owes_answer_, false)) taken_(received_bytes_);
}

}  // namespace bspnow::worker
