#include "worker/advertised_address.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <sys/socket.h>

#include "base/unique_fd.h"
#include "net/socket.h"

namespace bspnow::worker {

absl::StatusOr<std::string> WithHostOf(const std::string& address, const std::string& known) {
  absl::StatusOr<HostPort> parsed = ParseHostPort(address);
  if (!parsed.ok()) return parsed.status();
  if (parsed->host != "0.0.0.0" && parsed->host != "::") return address;
  const absl::StatusOr<HostPort> other = ParseHostPort(known);
  if (!other.ok()) return other.status();
  parsed->host = other->host;
  return parsed->ToString();
}

absl::Status CheckExposure(const std::string& address, Exposure exposure) {
  if (address.empty()) return absl::OkStatus();
  const absl::StatusOr<HostPort> host_port = ParseHostPort(address);
  if (!host_port.ok()) return host_port.status();
  const absl::StatusOr<SocketAddress> resolved = Resolve(*host_port);
  if (!resolved.ok()) return resolved.status();
  if (exposure == Exposure::kAnywhere || resolved->IsLoopback()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(address, ": other machines can reach this address, and without TLS whoever is ",
                   "on the way reads and changes what passes; give --tls DIR (`bsp certs` makes ",
                   "what is in it), or --insecure if you trust the network"));
}

// Connecting a datagram socket sends nothing, but chooses the route.
absl::StatusOr<std::string> OwnAddressTowards(const std::string& peer) {
  const absl::StatusOr<HostPort> parsed = ParseHostPort(peer);
  if (!parsed.ok()) return parsed.status();
  const absl::StatusOr<SocketAddress> address = Resolve(*parsed);
  if (!address.ok()) return address.status();
  const UniqueFd socket(::socket(address->family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() || connect(socket.get(), address->get(), address->bytes()) != 0) {
    return SystemError("finding the route to the coordinator", errno);
  }
  const absl::StatusOr<SocketAddress> own = LocalAddress(socket.get());
  if (!own.ok()) return own.status();
  return own->ToString();
}

absl::StatusOr<std::string> AdvertisedAddress(const WorkerSettings& settings,
                                              const std::string& bound) {
  if (!settings.advertise.empty()) return settings.advertise;
  const absl::StatusOr<std::string> own = OwnAddressTowards(settings.coordinator);
  if (!own.ok()) return own.status();
  return WithHostOf(bound, *own);
}

}  // namespace bspnow::worker
