// The gRPC server: both services, health and reflection.
#ifndef COORDINATOR_RPC_RPC_SERVER_H_
#define COORDINATOR_RPC_RPC_SERVER_H_

#include <memory>

#include <absl/status/statusor.h>
#include "coordinator/access/audit_log.h"
#include "coordinator/access/authority.h"
#include "coordinator/daemon.h"
#include "coordinator/web/web_server.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/tls/rpc_credentials.h"

namespace bspnow::coordinator {

class RpcServer {
 public:
  struct Place {
    HostPort listen;
    RpcCredentials credentials;
    WebServer* page;  ///< Null: there is none.
  };

  /// Listens at once; calls that `authority` permits come to `daemon` on `loop`. Port 0: any.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(EventLoop& loop, Daemon& daemon,
                                                          Authority& authority, AuditLog& audit,
                                                          const Place& place);

  struct Parts;  // Of gRPC.
  /// For Start.
  explicit RpcServer(std::unique_ptr<Parts> parts);
  ~RpcServer();

  /// With the real port.
  const HostPort& address() const;

  /// Ends all calls, and blocks until they have: meanwhile the loop must go on. Soon.
  void Shutdown();

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_RPC_SERVER_H_
