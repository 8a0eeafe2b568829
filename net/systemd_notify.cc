#include "net/systemd_notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/unique_fd.h"

namespace bspnow {

absl::Status NotifySystemd(std::string_view state) {
  const char* socket_path = getenv("NOTIFY_SOCKET");
  if (socket_path == nullptr) return absl::OkStatus();
  const std::string path = socket_path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return absl::InvalidArgumentError("NOTIFY_SOCKET is no socket's path: \"" + path + '"');
  memcpy(address.sun_path, path.data(), path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';  // An abstract socket.
  const UniqueFd socket_fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (!socket_fd.valid() || sendto(socket_fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                                   reinterpret_cast<sockaddr*>(&address), bytes) < 0)
    return absl::ErrnoToStatus(errno, "telling systemd at " + path);
  return absl::OkStatus();
}

}  // namespace bspnow
