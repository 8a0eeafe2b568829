#include "net/tls/testing/who_service.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/method_handler.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>

#include <thread>
#include <utility>

#include "base/check.h"
#include "base/keepalive.h"
#include "net/event_loop.h"
#include "net/rpc_listener.h"
#include "net/tls/certificate.h"

namespace bspnow {
namespace {

constexpr int kMessageBytesMax = 1 << 20;
constexpr int kLongMs = 600'000;

/// Without a message of its own: net knows no .proto.
class WhoService final : public grpc::Service {
 public:
  explicit WhoService(std::string directory) : directory_(std::move(directory)) {
    using Handler = grpc::internal::RpcMethodHandler<WhoService, grpc::ByteBuffer, grpc::ByteBuffer,
                                                     grpc::ByteBuffer, grpc::ByteBuffer>;
    auto handler = std::make_unique<Handler>(
        [](WhoService* self, grpc::ServerContext* context, const grpc::ByteBuffer*,
           grpc::ByteBuffer* reply) { return self->Answer(*context, *reply); },
        this);
    auto method = std::make_unique<grpc::internal::RpcServiceMethod>(
        "/test.Who/Ask", grpc::internal::RpcMethod::NORMAL_RPC, handler.release());
    AddMethod(method.release());  // gRPC owns both.
  }

 private:
  grpc::Status Answer(const grpc::ServerContext& context, grpc::ByteBuffer& reply) const {
    const ShownCertificate shown = CertificateOf(*context.auth_context(), directory_);
    if (!shown.ok())
      return {static_cast<grpc::StatusCode>(shown.status().code()),
              std::string(shown.status().message())};
    const auto who = *shown ? (*shown)->identity : std::nullopt;
    const std::string text =
        who ? absl::StrCat(RoleName(who->role), " ", who->name, " ", who->user) : "nobody";
    const grpc::Slice slice(text);
    reply = grpc::ByteBuffer(&slice, 1);
    return grpc::Status::OK;
  }

  const std::string directory_;  ///< Of --tls.
};

}  // namespace

struct WhoServer::Parts {
  explicit Parts(const std::string& directory) : service(directory) {}

  EventLoop loop;
  WhoService service;
  std::unique_ptr<RpcListener> listener;
  std::jthread thread;
};

WhoServer::WhoServer(const RpcCredentials& credentials) : WhoServer(credentials, kLongMs) {}

WhoServer::WhoServer(const RpcCredentials& credentials, int connection_age_ms)
    : parts_(std::make_unique<Parts>(credentials.directory())) {
  auto listener = RpcListener::Start(parts_->loop, {.host = "0.0.0.0", .port = 0},
                                     {.message_bytes_max = kMessageBytesMax,
                                      .keepalive = kClientKeepalive,
                                      .ping_interval_min_ms = 1000,
                                      .arguments = {},
                                      .credentials = credentials,
                                      .connection_age_ms = connection_age_ms},
                                     {&parts_->service}, nullptr);
  BSP_CHECK(listener.ok());
  parts_->listener = *std::move(listener);
  parts_->thread = std::jthread([this] { parts_->loop.Run(); });
}

WhoServer::~WhoServer() {
  parts_->listener->Shutdown();
  parts_->loop.Post([this] { parts_->loop.Stop(); });
  parts_->thread.join();
}

HostPort WhoServer::At(const std::string& host) const {
  return {.host = host, .port = parts_->listener->address().port};
}

}  // namespace bspnow
