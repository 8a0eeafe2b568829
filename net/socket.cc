#include "net/socket.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include <cstring>
#include <memory>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr int kBacklog = 1024;
constexpr int kKeepaliveProbes = 3;

absl::StatusOr<UniqueFd> NewSocket(const SocketAddress& address) {
  UniqueFd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return SystemError("socket", errno);
  return fd;
}

// Collects the first failure of many settings.
class Settings {
 public:
  explicit Settings(int fd) : fd_(fd) {}

  void Set(int level, int option, int value, const char* name) {
    SetBytes(level, option, &value, sizeof value, name);
  }

  void SetBytes(int level, int option, const void* value, socklen_t bytes, const char* name) {
    if (setsockopt(fd_, level, option, value, bytes) != 0 && first_.ok())
      first_ = SystemError(absl::StrCat("setting ", name), errno);
  }

  absl::Status first() const { return first_; }

 private:
  int fd_;
  absl::Status first_;
};

}  // namespace

absl::Status SystemError(std::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(std::string(what), ": ", strerror(error)));
}

std::string HostPort::ToString() const {
  const bool brackets = host.find(':') != std::string::npos;
  return brackets ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<HostPort> ParseHostPort(std::string_view text) {
  const auto refuse = [&](const char* why) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text), "' is not HOST:PORT: ", why));
  };
  if (text.find("://") != std::string_view::npos) return refuse("nothing stands before the host");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse("no port");
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  if (host.find_first_of("[]") != std::string_view::npos) return refuse("unbalanced brackets");
  if (brackets != (host.find(':') != std::string_view::npos))
    return refuse("an IPv6 address, and nothing else, stands in brackets, as in [::1]:7070");
  if (host.empty()) return refuse("no host");
  std::uint32_t port = 0;
  const std::string digits(text.substr(colon + 1));
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos ||
      !absl::SimpleAtoi(digits, &port) || port > 65535)
    return refuse("the port is a number up to 65535");
  return HostPort{std::string(host), static_cast<std::uint16_t>(port)};
}

SocketAddress::SocketAddress(const sockaddr* address, socklen_t bytes) : bytes_(bytes) {
  BSP_CHECK_OP(bytes, <=, sizeof storage_);
  std::memcpy(&storage_, address, bytes);
}

std::uint16_t SocketAddress::port() const {
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port);
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
  return 0;
}

HostPort SocketAddress::host_port() const {
  char host[NI_MAXHOST] = "";
  getnameinfo(get(), bytes_, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return {host, port()};
}

std::string SocketAddress::ToString() const { return host_port().ToString(); }

bool SocketAddress::IsLoopback() const {
  if (family() == AF_INET6) {
    const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(storage_).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&address);
  }
  if (family() != AF_INET) return false;
  const sockaddr_in& v4 = reinterpret_cast<const sockaddr_in&>(storage_);
  return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

absl::StatusOr<std::vector<SocketAddress>> ResolveAll(const HostPort& host_port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = absl::StrCat(host_port.port);
  const int error = getaddrinfo(host_port.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0)
    return absl::NotFoundError(absl::StrCat(host_port.ToString(), ": ", gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next)
    addresses.emplace_back(at->ai_addr, at->ai_addrlen);
  return addresses;
}

absl::StatusOr<SocketAddress> Resolve(const HostPort& host_port) {
  const auto addresses = ResolveAll(host_port);
  if (!addresses.ok()) return addresses.status();
  return addresses->front();
}

absl::StatusOr<UniqueFd> Listen(const SocketAddress& address, const SocketOptions& options) {
  absl::StatusOr<UniqueFd> fd = NewSocket(address);
  if (!fd.ok()) return fd;
  const int yes = 1;
  setsockopt(fd->get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  // Buffers are inherited by what is accepted, and must be set before the TCP window is agreed.
  SetOptions(fd->get(), options).IgnoreError();
  if (bind(fd->get(), address.get(), address.bytes()) != 0 || listen(fd->get(), kBacklog) != 0)
    return SystemError(absl::StrCat("listening on ", address.ToString()), errno);
  return fd;
}

absl::StatusOr<Accepted> Accept(int listener, const SocketOptions& options) {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  UniqueFd fd(
      accept4(listener, reinterpret_cast<sockaddr*>(&peer), &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid()) {
    // A connection that broke while it waited is none.
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return Accepted{};
    return SystemError("accept", errno);
  }
  SetOptions(fd.get(), options).IgnoreError();
  return Accepted{std::move(fd), SocketAddress(reinterpret_cast<sockaddr*>(&peer), bytes)};
}

absl::StatusOr<UniqueFd> BeginConnect(const SocketAddress& address, const SocketOptions& options) {
  absl::StatusOr<UniqueFd> fd = NewSocket(address);
  if (!fd.ok()) return fd;
  SetOptions(fd->get(), options).IgnoreError();
  if (connect(fd->get(), address.get(), address.bytes()) != 0 && errno != EINPROGRESS)
    return SystemError(absl::StrCat("connecting to ", address.ToString()), errno);
  return fd;
}

absl::Status ConnectError(int fd) {
  int error = 0;
  socklen_t bytes = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  return error == 0 ? absl::OkStatus() : SystemError("connecting", error);
}

absl::StatusOr<SocketAddress> LocalAddress(int fd) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0)
    return SystemError("getsockname", errno);
  return SocketAddress(reinterpret_cast<sockaddr*>(&address), bytes);
}

absl::Status SetOptions(int fd, const SocketOptions& options) {
  Settings settings(fd);
  settings.Set(IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  settings.Set(SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE");
  settings.Set(IPPROTO_TCP, TCP_KEEPIDLE, options.keepalive_idle_s, "TCP_KEEPIDLE");
  settings.Set(IPPROTO_TCP, TCP_KEEPINTVL, options.keepalive_interval_s, "TCP_KEEPINTVL");
  settings.Set(IPPROTO_TCP, TCP_KEEPCNT, kKeepaliveProbes, "TCP_KEEPCNT");
  if (options.buffer_bytes > 0) {
    settings.Set(SOL_SOCKET, SO_SNDBUF, options.buffer_bytes, "SO_SNDBUF");
    settings.Set(SOL_SOCKET, SO_RCVBUF, options.buffer_bytes, "SO_RCVBUF");
  }
  settings.Set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(options.user_timeout_ms),
               "TCP_USER_TIMEOUT");
  if (options.congestion != "default")
    settings.SetBytes(IPPROTO_TCP, TCP_CONGESTION, options.congestion.data(),
                      static_cast<socklen_t>(options.congestion.size()),
                      absl::StrCat("congestion control ", options.congestion).c_str());
  return settings.first();
}

}  // namespace bspnow
