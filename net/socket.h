// TCP sockets: addresses as people write them, and sockets set up as the superstep path wants them.
// All sockets are non-blocking and close on exec.
#ifndef NET_SOCKET_H_
#define NET_SOCKET_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace bspnow {

/// HOST:PORT. An IPv6 address stands in brackets: [::1]:80.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  std::string ToString() const;
};

absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

/// An IPv4 or IPv6 address with its port.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const sockaddr* address, socklen_t bytes);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t bytes() const { return bytes_; }
  int family() const { return storage_.ss_family; }
  std::uint16_t port() const;
  HostPort host_port() const;
  std::string ToString() const;  ///< Numbers, as ParseHostPort reads them.
  bool IsLoopback() const;

 private:
  sockaddr_storage storage_{};
  socklen_t bytes_ = 0;
};

/// All addresses, the best one first, and at least one. Asks the resolver, and so may block: not on
/// a loop (see Resolver), except for numbers.
absl::StatusOr<std::vector<SocketAddress>> ResolveAll(const HostPort& host_port);

/// The first of them.
absl::StatusOr<SocketAddress> Resolve(const HostPort& host_port);

struct SocketOptions {
  std::string congestion = "reno";         ///< TCP_CONGESTION; "default" leaves the system's.
  int buffer_bytes = 4 << 20;              ///< SO_SNDBUF and SO_RCVBUF; 0 leaves the system's.
  std::uint32_t user_timeout_ms = 10'000;  ///< TCP_USER_TIMEOUT; 0: the system's.
  int keepalive_idle_s = 5;                ///< TCP_KEEPIDLE; then three probes,
  int keepalive_interval_s = 2;            ///< TCP_KEEPINTVL.
};

/// Listens on `address`; port 0: any free one (see LocalAddress).
absl::StatusOr<UniqueFd> Listen(const SocketAddress& address, const SocketOptions& options);

struct Accepted {
  UniqueFd fd;  ///< Invalid: nobody is waiting.
  SocketAddress peer;
};
absl::StatusOr<Accepted> Accept(int listener, const SocketOptions& options);

/// Begins to connect: the socket becomes writable when that has succeeded or failed (see
/// ConnectError).
absl::StatusOr<UniqueFd> BeginConnect(const SocketAddress& address, const SocketOptions& options);

/// OK once the socket is connected, else why it is not.
absl::Status ConnectError(int fd);

/// The address that the socket is bound to, with the real port.
absl::StatusOr<SocketAddress> LocalAddress(int fd);

/// Sets SocketOptions, TCP_NODELAY and keepalive. A setting that fails is not fatal: the
/// first failure is returned, to be logged once.
absl::Status SetOptions(int fd, const SocketOptions& options);

/// "UNAVAILABLE: what: strerror(error)".
absl::Status SystemError(std::string_view what, int error);

}  // namespace bspnow

#endif  // NET_SOCKET_H_
