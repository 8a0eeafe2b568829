#include "base/write_all.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <string>

namespace bspnow {

absl::Status WriteAll(int file, std::string_view bytes, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // Who else has the file open has made it so.
      pollfd writable{.fd = file, .events = POLLOUT, .revents = 0};
      poll(&writable, 1, -1);
      continue;
    }
    if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("writing ", std::string(what)));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace bspnow
