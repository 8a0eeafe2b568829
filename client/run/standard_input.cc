#include "client/run/standard_input.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

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

// Reading from a terminal in the background would stop this program.
bool InBackground() { return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp(); }

}  // namespace

StandardInput::StandardInput(EventLoop& loop, std::function<void(std::string piece)> read)
    : loop_(loop), read_(std::move(read)) {}

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
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
    Ask();
    return;
  }
  piece.resize(n > 0 ? static_cast<std::size_t>(n) : 0);  // An error ends the input, too.
  read_(std::move(piece));
}

}  // namespace bspnow::client
