#include <absl/status/status.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <memory>
#include <utility>

#include "net/listener.h"
#include "net/rpc_listener.h"

namespace bspnow {
namespace {

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

/// A connection speaks HTTP/2 by then, or goes.
constexpr int kHandshakeMs = 5'000;
constexpr std::chrono::milliseconds kShutdownGrace{100};

void SetArguments(const RpcListener::Settings& settings, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(settings.message_bytes_max);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, settings.keepalive.time_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, settings.keepalive.timeout_ms);
  // No limit: a caller that waits sends nothing, and may have gone.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             settings.ping_interval_min_ms);
  if (settings.credentials.has_certificate())
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, settings.connection_age_ms);
  for (const auto& [name, value] : settings.arguments) builder.AddChannelArgument(name, value);
}

absl::StatusOr<std::unique_ptr<Listener>> Listen(EventLoop& loop, const HostPort& listen,
                                                 Acceptor& acceptor) {
  const absl::StatusOr<SocketAddress> where = Resolve(listen);
  if (!where.ok()) return where.status();
  // gRPC sets what it wants itself.
  const SocketOptions systems{.congestion = "default", .buffer_bytes = 0, .user_timeout_ms = 0};
  return Listener::Create(loop, *where, systems, [&acceptor](Accepted accepted) {
    Acceptor::NewConnectionParameters connection;
    connection.fd = accepted.fd.Release();
    acceptor.HandleNewConnection(&connection);
  });
}

}  // namespace

struct RpcListener::Parts {
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Listener> listener;
};

absl::StatusOr<std::unique_ptr<RpcListener>> RpcListener::Start(
    EventLoop& loop, const HostPort& listen, const Settings& settings,
    const std::vector<grpc::Service*>& services, Watch watch) {
  auto parts = std::make_unique<Parts>();
  grpc::ServerBuilder builder;
  SetArguments(settings, builder);
  parts->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      settings.credentials.server());
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (watch) {
    std::vector<Watch> watches;
    watches.push_back(std::move(watch));
    builder.experimental().SetInterceptorCreators(std::move(watches));
  }
  parts->server = builder.BuildAndStart();
  if (!parts->server) return absl::InternalError("gRPC does not start");
  auto listener = Listen(loop, listen, *parts->acceptor);
  if (!listener.ok()) return listener.status();
  parts->listener = *std::move(listener);
  const HostPort address{.host = listen.host, .port = parts->listener->address().port()};
  return std::make_unique<RpcListener>(std::move(parts), address);
}

RpcListener::RpcListener(std::unique_ptr<Parts> parts, HostPort address)
    : parts_(std::move(parts)), address_(std::move(address)) {}

RpcListener::~RpcListener() = default;

void RpcListener::Shutdown() {
  parts_->server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);  // tidy: gRPC's unit
}

}  // namespace bspnow
