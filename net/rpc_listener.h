// A gRPC server whose connections come from a Listener: gRPC's own would never accept again after
// it had once been short of descriptors.
#ifndef NET_RPC_LISTENER_H_
#define NET_RPC_LISTENER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/keepalive.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/tls/rpc_credentials.h"

namespace grpc {
class Service;
namespace experimental {
class ServerInterceptorFactoryInterface;
}
}  // namespace grpc

namespace bspnow {

class RpcListener {
 public:
  struct Settings {
    int message_bytes_max;
    Keepalive keepalive;
    int ping_interval_min_ms;  ///< Who pings more often, without data, is cut off.
    /// gRPC's names of other settings.
    std::vector<std::pair<std::string, int>> arguments;
    RpcCredentials credentials;  ///< To serve with.
    /// With TLS a connection is for so long, and one more for who goes on: only in a handshake a
    /// client looks at the server's certificate. Calls that are under way keep theirs.
    int connection_age_ms = 600'000;
  };

  /// Sees each call; gRPC's.
  using Watch = std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>;

  /// Listens at once, and accepts on `loop`. Port 0: any. The services outlive it. `watch` may be
  /// nullptr.
  static absl::StatusOr<std::unique_ptr<RpcListener>> Start(
      EventLoop& loop, const HostPort& listen, const Settings& settings,
      const std::vector<grpc::Service*>& services, Watch watch);

  struct Parts;  // Of gRPC.
  /// For Start.
  RpcListener(std::unique_ptr<Parts> parts, HostPort address);
  ~RpcListener();

  /// With the real port.
  const HostPort& address() const { return address_; }

  /// Ends all calls, and blocks until they have: meanwhile the loop must go on. Soon.
  void Shutdown();

 private:
  const std::unique_ptr<Parts> parts_;
  const HostPort address_;
};

}  // namespace bspnow

#endif  // NET_RPC_LISTENER_H_
