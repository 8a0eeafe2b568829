// A Listener for gRPC, whose own would never accept again after it had once been short of
// descriptors. A template, since gRPC itself is seen by stubs and services alone: an Acceptor is
// its ExternalConnectionAcceptor, and outlives the listener.
#ifndef NET_RPC_LISTENER_H_
#define NET_RPC_LISTENER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <utility>

#include "net/event_loop.h"
#include "net/listener.h"
#include "net/socket.h"

namespace bspnow {

/// A connection speaks HTTP/2 by then, or goes: for GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS.
inline constexpr int kRpcHandshakeMs = 5'000;

template <typename Acceptor>
absl::StatusOr<std::unique_ptr<Listener>> ListenForRpc(EventLoop& loop, const HostPort& listen,
                                                       Acceptor& acceptor) {
  const absl::StatusOr<SocketAddress> where = Resolve(listen);
  if (!where.ok()) return where.status();
  // gRPC sets what it wants itself.
  const SocketOptions systems{.congestion = "default", .buffer_bytes = 0, .user_timeout_ms = 0};
  return Listener::Create(loop, *where, systems, [&acceptor](Accepted accepted) {
    typename Acceptor::NewConnectionParameters connection;
    connection.fd = accepted.fd.Release();
    acceptor.HandleNewConnection(&connection);
  });
}

}  // namespace bspnow

#endif  // NET_RPC_LISTENER_H_
