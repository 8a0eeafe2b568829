#include <absl/strings/str_cat.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/client_interceptor.h>

#include <utility>
#include <vector>

#include "net/login/token_channel.h"

namespace bspnow {
namespace {

using grpc::experimental::InterceptionHookPoints;

constexpr int kResolutionsMs = 1000;  ///< Least between two look-ups of a name; 30 s by default.

class AddToken final : public grpc::experimental::Interceptor {
 public:
  explicit AddToken(const TokenSource& tokens) : tokens_(tokens) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* call) override {
    if (call->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      const absl::StatusOr<std::string> token = tokens_.Token();
      if (token.ok())
        call->GetSendInitialMetadata()->emplace("authorization", absl::StrCat("Bearer ", *token));
    }
    call->Proceed();
  }

 private:
  const TokenSource tokens_;
};

class AddTokens final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit AddTokens(TokenSource tokens) : tokens_(std::move(tokens)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new AddToken(tokens_);  // tidy: gRPC owns it
  }

 private:
  const TokenSource tokens_;
};

}  // namespace

std::shared_ptr<grpc::Channel> MakeTokenChannel(const std::string& address,
                                                const RpcCredentials& credentials,
                                                const grpc::ChannelArguments& arguments,
                                                TokenSource tokens) {
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<AddTokens>(std::move(tokens)));
  // A coordinator that was moved to another address has ten seconds for its workers' return.
  grpc::ChannelArguments more = arguments;
  more.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, kResolutionsMs);
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      address, credentials.channel(CertificateRole::kCoordinator), more, std::move(factories));
}

}  // namespace bspnow
