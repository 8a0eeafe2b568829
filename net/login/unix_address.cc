#include "net/login/unix_address.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>

namespace bspnow {

absl::StatusOr<UnixAddress> UnixAddress::Of(const std::string& path) {
  UnixAddress address;
  address.address_.sun_family = AF_UNIX;
  std::string shorter = path;
  if (path.size() >= sizeof address.address_.sun_path) {
    const std::size_t slash = path.rfind('/');
    address.directory_ =
        UniqueFd(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.directory_.valid())
      return absl::ErrnoToStatus(errno, absl::StrCat("the directory of ", path));
    shorter = absl::StrCat("/proc/self/fd/", address.directory_.get(), path.substr(slash));
    if (shorter.size() >= sizeof address.address_.sun_path)
      return absl::InvalidArgumentError(absl::StrCat(path, ": a socket's name is too long"));
  }
  shorter.copy(address.address_.sun_path, shorter.size());
  return address;
}

}  // namespace bspnow
