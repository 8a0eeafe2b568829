#include "net/tls/tls_diagnosis.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>

#include <array>
#include <utility>

#include "base/unique_fd.h"
#include "net/tls/openssl.h"
#include "net/tls/revocations.h"
#include "net/tls/tls_directory.h"

namespace bspnow {
namespace {

constexpr int kConnectMs = 1000;
constexpr timeval kAnswerTimeout{.tv_sec = 2, .tv_usec = 0};
/// gRPC speaks to nobody who does not offer HTTP/2.
constexpr unsigned char kHttp2[] = {2, 'h', '2'};

/// A server that closes its end while OpenSSL writes does not end the process.
class SigpipeHeld {
 public:
  SigpipeHeld() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeHeld(const SigpipeHeld&) = delete;
  SigpipeHeld& operator=(const SigpipeHeld&) = delete;
  ~SigpipeHeld() {
    const timespec at_once{};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&sigpipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
};

/// Blocking from then on, with a limit; invalid if nobody listens.
UniqueFd Connect(const HostPort& server) {
  const auto addresses = ResolveAll(server);
  if (!addresses.ok()) return UniqueFd();
  for (const SocketAddress& address : *addresses) {
    absl::StatusOr<UniqueFd> fd = BeginConnect(address, {.congestion = "default"});
    if (!fd.ok()) continue;
    pollfd writable{.fd = fd->get(), .events = POLLOUT, .revents = 0};
    if (poll(&writable, 1, kConnectMs) != 1 || !ConnectError(fd->get()).ok()) continue;
    fcntl(fd->get(), F_SETFL, fcntl(fd->get(), F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &kAnswerTimeout, sizeof kAnswerTimeout);
    return *std::move(fd);
  }
  return UniqueFd();
}

/// The handshake goes on whatever the certificate: what is wrong with it is asked afterwards.
/// Null for want of memory.
SslContextPtr MakeContext(const std::string& directory) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return context;
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof kHttp2);
  if (directory.empty()) return context;
  const auto path = [&directory](const char* file) { return absl::StrCat(directory, "/", file); };
  SSL_CTX_load_verify_file(context.get(), path(kAuthorityFile).c_str());
  if (FileExists(path(kCertificateFile))) {
    SSL_CTX_use_certificate_file(context.get(), path(kCertificateFile).c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context.get(), path(kKeyFile).c_str(), SSL_FILETYPE_PEM);
  }
  return context;
}

void ExpectHost(SSL& ssl, const std::string& host) {
  X509_VERIFY_PARAM* const expected = SSL_get0_param(&ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return;
  SSL_set1_host(&ssl, host.c_str());
  SSL_set_tlsext_host_name(&ssl, host.c_str());
}

std::string WrongHost(const HostPort& server, const CertificateFacts& facts) {
  return absl::StrCat("the certificate of ", server.ToString(), " is for ", HostsText(facts),
                      ", not for ", server.host,
                      "; name the server so, or issue its certificate with --host ", server.host);
}

/// Empty if it is a coordinator's. Whoever else has one of the CA's must not have our token.
std::string WrongRole(const std::string& certificate, const CertificateFacts& facts) {
  const absl::Status right = CheckRole(facts, CertificateRole::kCoordinator);
  if (right.ok()) return "";
  return absl::StrCat(certificate, " ", std::string(right.message()),
                      "; give the coordinator one of `bsp certs issue --role coordinator`");
}

/// Empty if nothing is wrong with it.
std::string WrongServer(const HostPort& server, SSL& ssl, const std::string& directory) {
  const std::string certificate = absl::StrCat("the certificate of ", server.ToString());
  const CertificatePtr shown(SSL_get1_peer_certificate(&ssl));
  if (shown == nullptr) return absl::StrCat(server.ToString(), " shows no certificate");
  const CertificateFacts facts = FactsOf(*shown);
  const long wrong = SSL_get_verify_result(&ssl);
  switch (wrong) {
    case X509_V_OK:
      if (const absl::Status s = Revocations(directory).Check(facts); !s.ok())
        return absl::StrCat(server.ToString(), ": ", std::string(s.message()));
      return WrongRole(certificate, facts);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::StrCat(certificate, " expired on ", TimeText(facts.ends_unix_s),
                          "; `bsp certs rotate` makes it anew there");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::StrCat(certificate, " is not valid before ", TimeText(facts.begins_unix_s),
                          "; are the clocks of both machines right?");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return WrongHost(server, facts);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return absl::StrCat(certificate, " was not signed by the CA in ", directory, "/",
                          kAuthorityFile, "; take ", kAuthorityFile,
                          " from the CA of that cluster, if this is the server you mean");
    default:
      return absl::StrCat(certificate,
                          " cannot be trusted: ", X509_verify_cert_error_string(wrong));
  }
}

std::string WantsTls(const HostPort& server) {
  return absl::StrCat(server.ToString(), " wants TLS; name a directory that has the ",
                      kAuthorityFile, " of its cluster with --tls DIR or BSP_TLS");
}

std::string NoTls(const HostPort& server) {
  return absl::StrCat(server.ToString(),
                      " does not speak TLS; start it with --tls, or leave out --tls and BSP_TLS "
                      "here, unless another program has that port");
}

enum class Shaken { kHands, kRefused, kOtherProtocol, kNothing };

/// What the server did with our hello.
Shaken Shake(SSL& ssl) {
  ERR_clear_error();
  const int shaken = SSL_connect(&ssl);
  const int reason = ERR_GET_REASON(ERR_peek_error());
  ERR_clear_error();
  if (shaken == 1) return Shaken::kHands;
  if (reason >= SSL_AD_REASON_OFFSET) return Shaken::kRefused;  // An alert, as only TLS has them.
  const bool is_silent = reason == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  return is_silent ? Shaken::kNothing : Shaken::kOtherProtocol;
}

}  // namespace

std::string DiagnoseTls(const HostPort& server, const std::string& directory) {
  const SigpipeHeld held;
  const UniqueFd fd = Connect(server);
  if (!fd.valid()) return "";
  const SslContextPtr context = MakeContext(directory);
  const SslPtr ssl(context == nullptr ? nullptr : SSL_new(context.get()));
  if (ssl == nullptr || SSL_set_fd(ssl.get(), fd.get()) != 1) return "";
  if (!directory.empty()) ExpectHost(*ssl, server.host);
  const Shaken shaken = Shake(*ssl);
  if (shaken == Shaken::kNothing) return "";
  const bool speaks_tls = shaken != Shaken::kOtherProtocol;
  if (directory.empty()) return speaks_tls ? WantsTls(server) : "";
  if (!speaks_tls) return NoTls(server);
  if (shaken == Shaken::kRefused)
    return absl::StrCat(server.ToString(), " refuses TLS as it is spoken here");
  return WrongServer(server, *ssl, directory);
}

}  // namespace bspnow
