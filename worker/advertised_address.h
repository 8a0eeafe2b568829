// What a worker tells others of where it listens, and where the coordinator is, if one of the two
// listens on all addresses of its machine.
#ifndef WORKER_ADVERTISED_ADDRESS_H_
#define WORKER_ADVERTISED_ADDRESS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "proto/workers.pb.h"
#include "worker/settings.h"

namespace bspnow::worker {

/// `address` as it is, unless its host is 0.0.0.0 or [::]: then with the host of `known`, an
/// address of the same machine. Both HOST:PORT.
absl::StatusOr<std::string> WithHostOf(const std::string& address, const std::string& known);

/// Ok if a daemon may listen at this address, HOST:PORT; or if it is empty, and so does not.
/// Unavailable if its name does not resolve, which may pass; what else is wrong stays so.
absl::Status CheckExposure(const std::string& address, Exposure exposure);

/// The address of this machine from which `peer`, HOST:PORT, is reached; its port means nothing.
/// Asks the resolver, and so may block.
absl::StatusOr<std::string> OwnAddressTowards(const std::string& peer);

/// Fills in where other workers are to connect now: to the streams, which listen at `bound`, and to
/// the images. If that is all addresses: to the one from which `coordinator`, HOST:PORT or as gRPC
/// writes a peer, is reached. Refused if the certificate is not for that host. May block if
/// `coordinator` is a name.
absl::Status SetAddresses(const WorkerSettings& settings, const std::string& bound,
                          std::uint16_t images_port, const std::string& coordinator,
                          proto::RegisterRequest& request);

}  // namespace bspnow::worker

#endif  // WORKER_ADVERTISED_ADDRESS_H_
