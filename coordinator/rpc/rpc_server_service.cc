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

namespace bspnow::coordinator {
namespace {

constexpr int kMessageBytesMax = 8 << 20;
/// A client or worker whose machine is gone is noticed within both together.
constexpr int kPingIntervalMinMs = 5'000;
constexpr std::chrono::milliseconds kShutdownGrace{100};

void SetArguments(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // A second coordinator is to fail.
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
  std::unique_ptr<grpc::Server> server;
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
  int port = 0;
  builder.AddListeningPort(listen.ToString(), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(parts->jobs.get());
  builder.RegisterService(parts->workers.get());
  parts->server = builder.BuildAndStart();
  if (!parts->server || port == 0)
    return absl::UnavailableError(absl::StrCat("cannot listen on ", listen.ToString(),
                                               "; is the address of this machine, and free?"));
  const HostPort address{.host = listen.host, .port = static_cast<std::uint16_t>(port)};
  return std::make_unique<RpcServer>(std::move(parts), address);
}

RpcServer::RpcServer(std::unique_ptr<Parts> parts, HostPort address)
    : parts_(std::move(parts)), address_(std::move(address)) {}

RpcServer::~RpcServer() = default;

void RpcServer::Shutdown() {
  parts_->server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);  // tidy: gRPC's unit
}

}  // namespace bspnow::coordinator
