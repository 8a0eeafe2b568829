#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>

#include <memory>
#include <utility>

#include "base/keepalive.h"
#include "coordinator/rpc/audited_calls.h"
#include "coordinator/rpc/jobs_service.h"
#include "coordinator/rpc/request_limits.h"
#include "coordinator/rpc/rpc_server.h"
#include "coordinator/rpc/workers_service.h"
#include "net/rpc_listener.h"

namespace bspnow::coordinator {
namespace {

constexpr int kMessageBytesMax = static_cast<int>(kLongCallBytesMax);
/// A client or worker whose machine is gone is noticed within both together.
constexpr int kPingIntervalMinMs = 5'000;
/// Calls under way of one connection. Who has not proven who he is keeps at most a message each.
constexpr int kCallsMax = 256;

}  // namespace

struct RpcServer::Parts {
  std::unique_ptr<grpc::Service> jobs;
  std::unique_ptr<grpc::Service> workers;
  std::unique_ptr<RpcListener> listener;
};

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(EventLoop& loop, Daemon& daemon,
                                                            Authority& authority, AuditLog& audit,
                                                            const Place& place) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto parts = std::make_unique<Parts>();
  parts->jobs = MakeJobsService(loop, daemon, authority, place.page);
  parts->workers = MakeWorkersService(loop, daemon, authority);
  const RpcListener::Settings settings{.message_bytes_max = kMessageBytesMax,
                                       .keepalive = kClientKeepalive,
                                       .ping_interval_min_ms = kPingIntervalMinMs,
                                       .arguments = {{GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
                                                     {GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsMax}},
                                       .credentials = place.credentials};
  auto listener =
      RpcListener::Start(loop, place.listen, settings, {parts->jobs.get(), parts->workers.get()},
                         AuditCalls(authority, audit));
  if (!listener.ok()) return listener.status();
  parts->listener = *std::move(listener);
  return std::make_unique<RpcServer>(std::move(parts));
}

RpcServer::RpcServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

RpcServer::~RpcServer() = default;

const HostPort& RpcServer::address() const { return parts_->listener->address(); }

void RpcServer::Shutdown() { parts_->listener->Shutdown(); }

}  // namespace bspnow::coordinator
