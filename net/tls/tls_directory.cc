#include "net/tls/tls_directory.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"
#include "base/durable_file.h"
#include "base/file_owner.h"
#include "net/tls/openssl.h"
#include "net/tls/revocations.h"

namespace bspnow {
namespace {

constexpr mode_t kOfOthers = 0077;
constexpr mode_t kOfWorld = 0007;
constexpr int kAuthLevel = 2;  // Of keys and digests: 112 bits, as in a handshake on Debian.

absl::Status CheckKey(const std::string& directory, X509& certificate) {
  const std::string path = absl::StrCat(directory, "/", kKeyFile);
  const absl::StatusOr<KeyPtr> key = ReadKey(path);
  if (!key.ok()) return key.status();
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & kOfWorld) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " can be read by everybody; chmod 600 ", path));
  }
  if (X509_check_private_key(&certificate, key->get()) == 1) return absl::OkStatus();
  TakeOpensslErrors();
  return absl::FailedPreconditionError(absl::StrCat(path, " does not belong to ", kCertificateFile,
                                                    " beside it; `bsp certs rotate ", directory,
                                                    " --ca DIR` makes both anew"));
}

absl::Status CheckSigned(const std::string& path, X509& certificate, X509& authority,
                         std::int64_t now_unix_s) {
  const StorePtr store(X509_STORE_new());
  const VerificationPtr verification(X509_STORE_CTX_new());
  BSP_CHECK(X509_STORE_add_cert(store.get(), &authority) == 1);
  BSP_CHECK(X509_STORE_CTX_init(verification.get(), store.get(), &certificate, nullptr) == 1);
  X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(verification.get()), now_unix_s);
  if (X509_verify_cert(verification.get()) == 1) return absl::OkStatus();
  TakeOpensslErrors();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " does not go with ", kAuthorityFile, " beside it (",
                   X509_verify_cert_error_string(X509_STORE_CTX_get_error(verification.get())),
                   "); take both from one `bsp certs issue`"));
}

absl::Status CheckTime(const std::string& directory, const std::string& path,
                       const CertificateFacts& facts, std::int64_t now_unix_s) {
  if (facts.ends_unix_s <= now_unix_s) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " expired on ", TimeText(facts.ends_unix_s), "; `bsp certs rotate ",
                     directory, " --ca DIR` makes it anew"));
  }
  if (facts.begins_unix_s > now_unix_s) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not valid before ",
                                                      TimeText(facts.begins_unix_s),
                                                      "; is this machine's clock right?"));
  }
  return absl::OkStatus();
}

// With another's role it would serve, and all others would refuse to be served.
absl::Status CheckUse(const std::string& path, X509& certificate, const CertificateFacts& facts,
                      TlsUse use) {
  if (use == TlsUse::kCall) {
    if (X509_check_purpose(&certificate, X509_PURPOSE_SSL_CLIENT, 0) == 1) return absl::OkStatus();
    const std::string role = facts.identity ? RoleName(facts.identity->role) : "unknown role";
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is that of a ", role,
                     ", which cannot call others; `bsp certs issue --role` makes another"));
  }
  const CertificateRole role =
      use == TlsUse::kCoordinate ? CertificateRole::kCoordinator : CertificateRole::kWorker;
  const absl::Status right = CheckRole(facts, role);
  if (right.ok() && X509_check_purpose(&certificate, X509_PURPOSE_SSL_SERVER, 0) == 1)
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " ", right.ok() ? "cannot serve" : std::string(right.message()),
                   "; `bsp certs issue CA --role ", RoleName(role),
                   " --name NAME --host HOST --out DIR` makes one"));
}

/// Of a certificate that a client has shown. Its times count once its signature is good.
absl::Status WhyNot(int wrong, const CertificateFacts& facts) {
  switch (wrong) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::UnauthenticatedError(absl::StrCat("the certificate shown expired on ",
                                                     TimeText(facts.ends_unix_s),
                                                     "; `bsp certs rotate` makes it anew"));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::UnauthenticatedError(absl::StrCat("the certificate shown is not valid before ",
                                                     TimeText(facts.begins_unix_s),
                                                     "; are the clocks of both machines right?"));
    default:
      return absl::UnauthenticatedError(absl::StrCat(
          "the certificate shown is not one that the CA of this cluster has made for a client (",
          X509_verify_cert_error_string(wrong), "); take ", kAuthorityFile, ", ", kCertificateFile,
          " and ", kKeyFile, " from one `bsp certs issue` of that CA"));
  }
}

}  // namespace

absl::StatusOr<std::optional<CertificateFacts>> CheckTlsDirectory(const std::string& directory,
                                                                  TlsUse use,
                                                                  std::int64_t now_unix_s) {
  const absl::StatusOr<CertificatePtr> authority =
      ReadIssued(absl::StrCat(directory, "/", kAuthorityFile));
  if (!authority.ok()) return authority.status();
  const std::string path = absl::StrCat(directory, "/", kCertificateFile);
  if (use == TlsUse::kCall && !FileExists(path)) return std::nullopt;
  const absl::StatusOr<CertificatePtr> certificate = ReadIssued(path);
  if (!certificate.ok()) return certificate.status();
  const CertificateFacts facts = FactsOf(**certificate);
  if (absl::Status s = CheckTime(directory, path, facts, now_unix_s); !s.ok()) return s;
  if (absl::Status s = Revocations(directory).Check(facts); !s.ok()) return s;
  if (absl::Status s = CheckKey(directory, **certificate); !s.ok()) return s;
  if (absl::Status s = CheckSigned(path, **certificate, **authority, now_unix_s); !s.ok()) return s;
  if (absl::Status s = CheckUse(path, **certificate, facts, use); !s.ok()) return s;
  return facts;
}

absl::StatusOr<CertificateFacts> CheckShown(const std::string& directory, std::string_view pem,
                                            std::int64_t now_unix_s) {
  const CertificatePtr shown = ParseCertificate(pem);
  if (shown == nullptr) return absl::UnauthenticatedError("the certificate shown cannot be read");
  const std::string authorities = absl::StrCat(directory, "/", kAuthorityFile);
  const StorePtr store(X509_STORE_new());
  const VerificationPtr verification(X509_STORE_CTX_new());
  if (X509_STORE_load_file(store.get(), authorities.c_str()) != 1)
    return absl::UnavailableError(
        absl::StrCat("the server cannot read ", authorities, ": ", TakeOpensslErrors()));
  BSP_CHECK(X509_STORE_CTX_init(verification.get(), store.get(), shown.get(), nullptr) == 1);
  BSP_CHECK(X509_STORE_CTX_set_default(verification.get(), "ssl_client") == 1);
  X509_VERIFY_PARAM* const wanted = X509_STORE_CTX_get0_param(verification.get());
  X509_VERIFY_PARAM_set_auth_level(wanted, kAuthLevel);
  X509_VERIFY_PARAM_set_time(wanted, now_unix_s);
  const bool counts = X509_verify_cert(verification.get()) == 1;
  TakeOpensslErrors();  // A connection of this thread would take what is left for its own.
  if (counts) return FactsOf(*shown);
  return WhyNot(X509_STORE_CTX_get_error(verification.get()), FactsOf(*shown));
}

absl::Status CheckServedHost(const std::string& directory, const std::string& host) {
  if (directory.empty()) return absl::OkStatus();
  const std::string path = absl::StrCat(directory, "/", kCertificateFile);
  const absl::StatusOr<CertificatePtr> certificate = ReadIssued(path);
  if (!certificate.ok()) return certificate.status();
  if (X509_check_ip_asc(certificate->get(), host.c_str(), 0) == 1 ||
      X509_check_host(certificate->get(), host.data(), host.size(), 0, nullptr) == 1) {
    return absl::OkStatus();
  }
  TakeOpensslErrors();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " is for ", HostsText(FactsOf(**certificate)), ", not for ", host,
                   ", by which others connect; issue it with --host ", host));
}

absl::Status WriteTlsFiles(const std::string& directory, const std::vector<NewTlsFile>& files) {
  std::vector<DurableFile> made;
  for (const NewTlsFile& file : files) {
    absl::StatusOr<DurableFile> next = DurableFile::Create(directory);
    if (!next.ok()) return next.status();
    const std::string path = absl::StrCat(directory, "/", file.name);
    if (absl::Status s = TakeOwnerAndMode(next->fd(), path, file.mode); !s.ok()) return s;
    if (absl::Status s = next->Append(file.text); !s.ok()) return s;
    made.push_back(*std::move(next));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    absl::Status s = made[i].Commit(files[i].name, Durability::kSynced);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<CertificatePtr> ReadIssued(const std::string& path) {
  absl::StatusOr<CertificatePtr> certificate = ReadCertificate(path);
  if (!absl::IsNotFound(certificate.status())) return certificate;
  return absl::NotFoundError(absl::StrCat(std::string(certificate.status().message()),
                                          "; `bsp certs issue` makes such a directory"));
}

bool FileExists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

absl::Status MakePrivateDirectory(const std::string& path) {
  struct stat status {};
  if (mkdir(path.c_str(), 0700) == 0) return absl::OkStatus();
  if (errno != EEXIST) return absl::ErrnoToStatus(errno, absl::StrCat("making ", path));
  if (stat(path.c_str(), &status) != 0) return absl::ErrnoToStatus(errno, path);
  if (!S_ISDIR(status.st_mode))
    return absl::AlreadyExistsError(absl::StrCat(path, " is no directory"));
  if ((status.st_mode & kOfOthers) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " is open to others than its owner; chmod 700 ", path,
                   ", or name a directory that is not there yet"));
}

}  // namespace bspnow
