#include "net/tls/server_context.h"

#include <openssl/ssl.h>

#include <utility>

#include <absl/strings/str_cat.h>
#include "base/check.h"
#include "base/file_state.h"
#include "net/tls/certificate.h"
#include "net/tls/tls_directory.h"

namespace bspnow {
namespace {

absl::StatusOr<SslContextPtr> Make(const std::string& directory) {
  const std::string certificate = absl::StrCat(directory, "/", kCertificateFile);
  const std::string key = absl::StrCat(directory, "/", kKeyFile);
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return absl::ResourceExhaustedError(
        absl::StrCat("OpenSSL makes no context for TLS: ", TakeOpensslErrors()));
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return absl::FailedPreconditionError(
        absl::StrCat(certificate, " and ", key, " cannot be used for TLS: ", TakeOpensslErrors()));
  return context;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerContext>> ServerContext::Load(const std::string& directory) {
  auto made = std::make_unique<ServerContext>(directory);
  if (absl::Status read = made->ReadAgain(); !read.ok()) return read;
  return made;
}

// While both files are being replaced they do not go together: the earlier ones serve on.
absl::Status ServerContext::ReadAgain() {
  struct stat now {};
  if (stat(absl::StrCat(directory_, "/", kCertificateFile).c_str(), &now) == 0 &&
      context_ != nullptr && IsSameState(certificate_, now))
    return absl::OkStatus();
  absl::StatusOr<SslContextPtr> made = Make(directory_);
  if (!made.ok()) return made.status();
  context_ = *std::move(made);
  certificate_ = now;
  return absl::OkStatus();
}

SslPtr ServerContext::Begin(int fd) {
  const std::lock_guard lock(mutex_);
  ReadAgain().IgnoreError();
  SslPtr ssl(SSL_new(context_.get()));
  BSP_CHECK(ssl != nullptr && SSL_set_fd(ssl.get(), fd) == 1);
  SSL_set_accept_state(ssl.get());
  return ssl;
}

}  // namespace bspnow
