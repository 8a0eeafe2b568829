#include <absl/strings/str_cat.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <utility>
#include <vector>

#include "base/clock.h"
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

}  // namespace

RpcCredentials::RpcCredentials(std::string directory,
                               std::shared_ptr<grpc::ServerCredentials> server,
                               std::shared_ptr<grpc::ChannelCredentials> channel)
    : directory_(std::move(directory)), server_(std::move(server)), channel_(std::move(channel)) {}

bool RpcCredentials::has_certificate() const {
  return !directory_.empty() && FileExists(absl::StrCat(directory_, "/", kCertificateFile));
}

RpcCredentials RpcCredentials::Plain() {
  return {"", grpc::InsecureServerCredentials(), grpc::InsecureChannelCredentials()};
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
  tls::TlsChannelCredentialsOptions calling;
  calling.set_certificate_provider(provider);
  calling.watch_root_certs();
  if (own == Own::kCertificate) calling.watch_identity_key_cert_pairs();
  std::shared_ptr<grpc::ServerCredentials> server;
  if (use == TlsUse::kServe) {
    tls::TlsServerCredentialsOptions serving(provider);
    serving.watch_root_certs();
    serving.watch_identity_key_cert_pairs();
    serving.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
    server = tls::TlsServerCredentials(serving);
  }
  return RpcCredentials(directory, std::move(server), tls::TlsCredentials(calling));
}

std::optional<CertificateIdentity> IdentityOf(const grpc::AuthContext& context) {
  // Not the property of the subject: it is a text with separators, which a name may have, too. A
  // certificate that was shown has been verified, or there would be no connection.
  const std::vector<grpc::string_ref> shown =
      context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!context.IsPeerAuthenticated() || shown.size() != 1) return std::nullopt;
  const CertificatePtr certificate = ParseCertificate({shown[0].data(), shown[0].size()});
  return certificate == nullptr ? std::nullopt : FactsOf(*certificate).identity;
}

}  // namespace bspnow
