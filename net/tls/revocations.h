// Certificates that count no more though they have not expired: the file `revoked` beside ca.crt,
// which `bsp certs revoke` writes. It says whose they were, and when they were issued at the
// latest, in lines such as
//
//   worker one 1795993200
//
// and not which numbers they had: whoever has stolen a certificate may have its only copy.
#ifndef NET_TLS_REVOCATIONS_H_
#define NET_TLS_REVOCATIONS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "net/tls/certificate.h"

namespace bspnow {

inline constexpr char kRevokedFile[] = "revoked";

/// By role and name: certificates whose time began then, in Unix seconds, or before.
using RevokedUntil = std::map<std::pair<CertificateRole, std::string>, std::int64_t>;

/// Without such a file nothing is revoked. An error names the line that nobody can read.
absl::StatusOr<RevokedUntil> ReadRevoked(const std::string& directory);
std::string RevokedText(const RevokedUntil& revoked);

/// Those of a --tls directory, read again when they change. From any thread.
class Revocations {
 public:
  /// Empty: plain text.
  explicit Revocations(std::string directory) : directory_(std::move(directory)) {}

  /// Ok if this certificate counts. If the file cannot be read none does.
  absl::Status Check(const CertificateFacts& facts);

 private:
  void ReadAgain();

  const std::string directory_;
  std::mutex mutex_;  ///< Guards the following.
  struct stat seen_ {};
  absl::StatusOr<RevokedUntil> revoked_ = RevokedUntil();
};

}  // namespace bspnow

#endif  // NET_TLS_REVOCATIONS_H_
