#include "worker/advertised_address.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <errno.h>
#include <sys/socket.h>

#include "base/unique_fd.h"
#include "net/socket.h"
#include "net/tls/tls_directory.h"

namespace bspnow::worker {
namespace {

bool IsAnyHost(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

// gRPC writes "ipv4:10.0.0.1:7070" and "ipv6:%5B::1%5D:7070".
std::string HostPortOf(std::string_view peer) {
  for (const std::string_view family : {"ipv4:", "ipv6:"})
    if (peer.starts_with(family)) peer.remove_prefix(family.size());
  return absl::StrReplaceAll(std::string(peer), {{"%5B", "["}, {"%5D", "]"}, {"%25", "%"}});
}

// A name is not looked up for what nobody needs: that may take half a minute.
absl::StatusOr<std::string> AdvertisedAddress(const WorkerSettings& settings,
                                              const std::string& bound,
                                              const std::string& coordinator) {
  if (!settings.advertise.empty()) return settings.advertise;
  const absl::StatusOr<HostPort> listens = ParseHostPort(bound);
  if (!listens.ok()) return listens.status();
  if (!IsAnyHost(listens->host)) return bound;
  const absl::StatusOr<std::string> own = OwnAddressTowards(HostPortOf(coordinator));
  if (!own.ok()) return own.status();
  return WithHostOf(bound, *own);
}

}  // namespace

absl::StatusOr<std::string> WithHostOf(const std::string& address, const std::string& known) {
  absl::StatusOr<HostPort> parsed = ParseHostPort(address);
  if (!parsed.ok()) return parsed.status();
  if (!IsAnyHost(parsed->host)) return address;
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
  if (!resolved.ok()) return absl::UnavailableError(resolved.status().message());
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

absl::Status SetAddresses(const WorkerSettings& settings, const std::string& bound,
                          std::uint16_t images_port, const std::string& coordinator,
                          proto::RegisterRequest& request) {
  const absl::StatusOr<std::string> address = AdvertisedAddress(settings, bound, coordinator);
  if (!address.ok()) return address.status();
  const absl::StatusOr<HostPort> data = ParseHostPort(*address);
  if (!data.ok()) return data.status();
  const absl::Status serves = CheckServedHost(settings.tls_dir, data->host);
  if (settings.checkpoint_share.empty() && !serves.ok()) return serves;  // A share serves itself.
  request.set_data_address(*address);
  request.set_images_address(HostPort{data->host, images_port}.ToString());
  return absl::OkStatus();
}

}  // namespace bspnow::worker
