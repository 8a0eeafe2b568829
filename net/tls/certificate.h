// X.509 certificates as `bsp certs` makes them, read. Whose one is stands in its subject: the role
// in OU, as in bspnow-worker, the name in CN, the user in UID.
#ifndef NET_TLS_CERTIFICATE_H_
#define NET_TLS_CERTIFICATE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls/openssl.h"

namespace bspnow {

enum class CertificateRole { kCoordinator, kWorker, kClient, kAdmin };

/// In OU, before the role.
inline constexpr char kUnitPrefix[] = "bspnow-";

/// "worker".
std::string RoleName(CertificateRole role);
std::optional<CertificateRole> ParseRole(std::string_view name);

struct CertificateIdentity {
  CertificateRole role;
  std::string name;  ///< Of the node, client or administrator.
  std::string user;  ///< Of a client or administrator: in whose name they come. Else empty.

  bool operator==(const CertificateIdentity&) const = default;
};

/// What a certificate says, whoever signed it.
struct CertificateFacts {
  std::optional<CertificateIdentity> identity;  ///< None if `bsp certs` did not make it.
  std::vector<std::string> hosts;               ///< Names and addresses that it is valid for.
  std::int64_t begins_unix_s;
  std::int64_t ends_unix_s;
};
CertificateFacts FactsOf(const X509& certificate);

/// Of who calls a server: nothing, none that says who he is; an error, one that does not count.
using ShownCertificate = absl::StatusOr<std::optional<CertificateFacts>>;

/// Ok if the certificate is of this role; the error ends a sentence that names whose it is.
absl::Status CheckRole(const CertificateFacts& facts, CertificateRole role);

/// "node1, 192.168.1.11", or "no host".
std::string HostsText(const CertificateFacts& facts);

/// The first certificate, or the key, of a PEM file. Errors name the file.
absl::StatusOr<CertificatePtr> ReadCertificate(const std::string& path);
absl::StatusOr<KeyPtr> ReadKey(const std::string& path);

/// The first certificate in a text; null if there is none.
CertificatePtr ParseCertificate(std::string_view pem);

/// "2027-01-31 12:00 UTC".
std::string TimeText(std::int64_t unix_s);

/// What OpenSSL has complained of, all forgotten; for the end of a sentence.
std::string TakeOpensslErrors();

}  // namespace bspnow

#endif  // NET_TLS_CERTIFICATE_H_
