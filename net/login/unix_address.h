// Addresses of Unix sockets, of which the kernel takes 107 bytes.
#ifndef NET_LOGIN_UNIX_ADDRESS_H_
#define NET_LOGIN_UNIX_ADDRESS_H_

#include <absl/status/statusor.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/unique_fd.h"

namespace bspnow {

class UnixAddress {
 public:
  /// A longer path is one below a descriptor of its directory, which must exist then.
  static absl::StatusOr<UnixAddress> Of(const std::string& path);

  /// For bind and connect, while this lives.
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return sizeof address_; }

 private:
  sockaddr_un address_{};
  UniqueFd directory_;
};

}  // namespace bspnow

#endif  // NET_LOGIN_UNIX_ADDRESS_H_
