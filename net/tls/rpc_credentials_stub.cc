#include <absl/strings/str_cat.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <functional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "net/tls/revocations.h"
#include "net/tls/rpc_credentials.h"

namespace bspnow {
namespace {

namespace tls = grpc::experimental;

constexpr unsigned kRefreshSeconds = 2;
constexpr std::int64_t kMsPerSecond = 1000;

enum class Own { kCertificate, kNone };

std::shared_ptr<tls::CertificateProviderInterface> Watch(const std::string& directory, Own own) {
  const auto path = [&directory](const char* file) { return absl::StrCat(directory, "/", file); };
  if (own == Own::kNone) {
    return std::make_shared<tls::FileWatcherCertificateProvider>(path(kAuthorityFile),
                                                                 kRefreshSeconds);
  }
  return std::make_shared<tls::FileWatcherCertificateProvider>(
      path(kKeyFile), path(kCertificateFile), path(kAuthorityFile), kRefreshSeconds);
}

/// Of a server, once its certificate has proven to be of the CA.
class ServerVerifier final : public tls::ExternalCertificateVerifier {
 public:
  ServerVerifier(CertificateRole role, const std::string& directory)
      : role_(role), revocations_(directory) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> callback, grpc::Status* verified) override {
    BSP_CHECK(host_.Verify(request, std::move(callback), verified));  // It answers at once.
    if (!verified->ok()) return true;
    const grpc::string_ref shown = request->peer_cert();
    const CertificatePtr certificate = ParseCertificate({shown.data(), shown.size()});
    const absl::Status right = certificate == nullptr
                                   ? absl::UnauthenticatedError("no certificate is shown")
                                   : Check(FactsOf(*certificate));
    if (!right.ok()) *verified = {grpc::StatusCode::UNAUTHENTICATED, std::string(right.message())};
    return true;
  }

  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  absl::Status Check(const CertificateFacts& facts) {
    if (absl::Status s = CheckRole(facts, role_); !s.ok()) return s;
    return revocations_.Check(facts);
  }

  const CertificateRole role_;
  Revocations revocations_;
  tls::HostNameCertificateVerifier host_;
};

std::shared_ptr<grpc::ChannelCredentials> ChannelTo(
    CertificateRole role, const std::string& directory,
    const std::shared_ptr<tls::CertificateProviderInterface>& provider, Own own) {
  tls::TlsChannelCredentialsOptions calling;
  calling.set_certificate_provider(provider);
  calling.watch_root_certs();
  if (own == Own::kCertificate) calling.watch_identity_key_cert_pairs();
  calling.set_certificate_verifier(
      tls::ExternalCertificateVerifier::Create<ServerVerifier>(role, directory));
  return tls::TlsCredentials(calling);
}

}  // namespace

RpcCredentials::RpcCredentials(std::string directory,
                               std::shared_ptr<grpc::ServerCredentials> server, Channels channels)
    : directory_(std::move(directory)),
      server_(std::move(server)),
      channels_(std::move(channels)) {}

const std::shared_ptr<grpc::ChannelCredentials>& RpcCredentials::channel(
    CertificateRole server) const {
  BSP_CHECK(server == CertificateRole::kCoordinator || server == CertificateRole::kWorker);
  return server == CertificateRole::kCoordinator ? channels_.to_coordinator : channels_.to_worker;
}

bool RpcCredentials::has_certificate() const {
  return !directory_.empty() && FileExists(absl::StrCat(directory_, "/", kCertificateFile));
}

RpcCredentials RpcCredentials::Plain() {
  const auto plain = grpc::InsecureChannelCredentials();
  return {"", grpc::InsecureServerCredentials(), {.to_coordinator = plain, .to_worker = plain}};
}

absl::StatusOr<RpcCredentials> RpcCredentials::Load(const std::string& directory, TlsUse use) {
  if (directory.empty()) return Plain();
  const auto facts = CheckTlsDirectory(directory, use, UnixMs() / kMsPerSecond);
  if (!facts.ok()) {
    return absl::Status(facts.status().code(), absl::StrCat("--tls ", directory, ": ",
                                                            std::string(facts.status().message())));
  }
  const Own own = facts->has_value() ? Own::kCertificate : Own::kNone;
  const auto provider = Watch(directory, own);
  std::shared_ptr<grpc::ServerCredentials> server;
  if (use != TlsUse::kCall) {
    tls::TlsServerCredentialsOptions serving(provider);
    serving.watch_root_certs();
    serving.watch_identity_key_cert_pairs();
    // The handshake proves that the client has the key. Whether the certificate counts is decided
    // at each call, by CertificateOf: a handshake would refuse without a word, a count or a line.
    serving.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
    server = tls::TlsServerCredentials(serving);
  }
  return RpcCredentials(
      directory, std::move(server),
      {.to_coordinator = ChannelTo(CertificateRole::kCoordinator, directory, provider, own),
       .to_worker = ChannelTo(CertificateRole::kWorker, directory, provider, own)});
}

ShownCertificate CertificateOf(const grpc::AuthContext& context, const std::string& directory) {
  // Not the property of the subject: it is a text with separators, which a name may have, too.
  const std::vector<grpc::string_ref> shown =
      context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!context.IsPeerAuthenticated() || shown.size() != 1) return std::nullopt;
  absl::StatusOr<CertificateFacts> facts =
      CheckShown(directory, {shown[0].data(), shown[0].size()}, UnixMs() / kMsPerSecond);
  if (!facts.ok()) return facts.status();
  if (!facts->identity) return std::nullopt;
  return *std::move(facts);
}

}  // namespace bspnow
