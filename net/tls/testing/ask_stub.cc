#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>

#include "net/tls/testing/who_service.h"

namespace bspnow {
namespace {

constexpr int kPatienceMs = 10'000;

}  // namespace

struct Asker::Parts {
  std::shared_ptr<grpc::Channel> channel;
};

Asker::Asker(const HostPort& server, const RpcCredentials& credentials)
    : parts_(std::make_unique<Parts>()) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  parts_->channel = grpc::CreateCustomChannel(
      server.ToString(), credentials.channel(CertificateRole::kCoordinator), arguments);
}

Asker::~Asker() = default;

absl::StatusOr<std::string> Asker::Ask() {
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(kPatienceMs, GPR_TIMESPAN));
  const grpc::internal::RpcMethod method("/test.Who/Ask", grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Slice nothing("");
  const grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer reply;
  const grpc::Status asked =
      grpc::internal::BlockingUnaryCall(parts_->channel.get(), method, &context, request, &reply);
  if (!asked.ok())
    return absl::Status(static_cast<absl::StatusCode>(asked.error_code()), asked.error_message());
  grpc::Slice answer;
  if (!reply.DumpToSingleSlice(&answer).ok()) return absl::InternalError("no answer");
  return std::string(reinterpret_cast<const char*>(answer.begin()), answer.size());
}

absl::StatusOr<std::string> Ask(const HostPort& server, const RpcCredentials& credentials) {
  return Asker(server, credentials).Ask();
}

}  // namespace bspnow
