#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/keepalive.h"
#include "coordinator/rpc/jobs_service.h"
#include "coordinator/rpc/rpc_server.h"
#include "coordinator/rpc/workers_service.h"
#include "net/rpc_listener.h"

namespace bspnow::coordinator {
namespace {

constexpr int kMessageBytesMax = 8 << 20;
/// A client or worker whose machine is gone is noticed within both together.
constexpr int kPingIntervalMinMs = 5'000;
constexpr std::chrono::milliseconds kShutdownGrace{100};

void SetArguments(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kRpcHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kClientKeepalive.time_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kClientKeepalive.timeout_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kPingIntervalMinMs);
}

}  // namespace

struct RpcServer::Parts {
  std::unique_ptr<grpc::Service> jobs;
  std::unique_ptr<grpc::Service> workers;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Listener> listener;
};

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(EventLoop& loop, Daemon& daemon,
                                                            const HostPort& listen) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto parts = std::make_unique<Parts>();
  parts->jobs = MakeJobsService(loop, daemon);
  parts->workers = MakeWorkersService(loop, daemon);
  grpc::ServerBuilder builder;
  SetArguments(builder);
  parts->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  builder.RegisterService(parts->jobs.get());
  builder.RegisterService(parts->workers.get());
  parts->server = builder.BuildAndStart();
  if (!parts->server) return absl::InternalError("gRPC does not start");
  auto listener = ListenForRpc(loop, listen, *parts->acceptor);
  if (!listener.ok()) return listener.status();
  parts->listener = *std::move(listener);
  const HostPort address{.host = listen.host, .port = parts->listener->address().port()};
  return std::make_unique<RpcServer>(std::move(parts), address);
}

RpcServer::RpcServer(std::unique_ptr<Parts> parts, HostPort address)
    : parts_(std::move(parts)), address_(std::move(address)) {}

RpcServer::~RpcServer() = default;

void RpcServer::Shutdown() {
  parts_->server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);  // tidy: gRPC's unit
}

}  // namespace bspnow::coordinator
