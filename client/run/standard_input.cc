#include "client/run/standard_input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "client/run/terminal.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::uint64_t kForegroundMs = 200;

// Whether it can be waited for; a file, or a device such as /dev/null, always has something.
bool CanWait() {
  struct stat status;
  if (fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(STDIN_FILENO);
}

// A terminal that was hung up has no more, and one that is open for writing only, as nohup leaves
// it, never had any. All else means that there is more: a job must not take a part for the whole.
bool IsEnd(int error) { return error == EBADF || (error == EIO && IsOrWasTerminal(STDIN_FILENO)); }

// Reading from a terminal in the background would stop this program.
bool InBackground() { return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp(); }

}  // namespace

StandardInput::StandardInput(EventLoop& loop, InputEvents events)
    : loop_(loop), events_(std::move(events)) {}

StandardInput::~StandardInput() {
  loop_.Forget(STDIN_FILENO);
  loop_.CancelTimer(retry_);
}

void StandardInput::Ask() {
  if (CanWait()) {
    Watch();
  } else {
    loop_.Post([this] { Read(); });
  }
}

void StandardInput::Watch() {
  if (InBackground()) {
    retry_ = loop_.AddTimer(kForegroundMs, [this] { Watch(); });
    return;
  }
  loop_.OnReadable(STDIN_FILENO, [this] {
    loop_.Forget(STDIN_FILENO);
    if (InBackground()) {
      Watch();
    } else {
      Read();
    }
  });
}

void StandardInput::Read() {
  std::string piece(kPieceBytes, '\0');
  const ssize_t n = read(STDIN_FILENO, piece.data(), piece.size());
  const int error = n < 0 ? errno : 0;
  if (error == EINTR || error == EAGAIN) return Ask();
  if (error != 0 && !IsEnd(error))
    return events_.failed(std::string("reading standard input: ") + strerror(error));
  piece.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  events_.read(std::move(piece));
}

}  // namespace bspnow::client
