// A small certificate authority in a directory: ca.crt and ca.key. What `bsp certs` does.
#ifndef NET_TLS_AUTHORITY_H_
#define NET_TLS_AUTHORITY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "net/tls/certificate.h"
#include "net/tls/openssl.h"

namespace bspnow {

struct CertificateRequest {
  CertificateIdentity identity;
  std::vector<std::string> hosts;  ///< For roles that serve, and only for these.
  std::uint32_t days;
};

class CertificateAuthority {
 public:
  /// A new one in a directory that is made, too, or has none yet. Gives ca.crt's facts.
  static absl::StatusOr<CertificateFacts> Init(const std::string& directory, std::uint32_t days,
                                               std::int64_t now_unix_s);

  static absl::StatusOr<CertificateAuthority> Open(const std::string& directory,
                                                   std::int64_t now_unix_s);

  /// Writes tls.crt, tls.key and ca.crt into the directory `out`, which is made, too, and has none
  /// of these yet. No certificate outlives its authority.
  absl::StatusOr<CertificateFacts> Issue(const CertificateRequest& request,
                                         const std::string& out) const;

  /// Issues what is in the directory anew: for the same subject and hosts, with a new key, for
  /// `days` (0: as many as before). Replaces key and certificate, each at once; they keep their
  /// owners and modes.
  absl::StatusOr<CertificateFacts> Rotate(const std::string& directory, std::uint32_t days) const;

  /// Writes down that all certificates count no more that whoever has this role and name was issued
  /// so far: in the file `revoked`, of which later ones get a copy.
  absl::Status Revoke(CertificateRole role, const std::string& name) const;

 private:
  CertificateAuthority(std::string directory, std::int64_t now_unix_s)
      : directory_(std::move(directory)), now_unix_s_(now_unix_s) {}

  absl::StatusOr<CertificateFacts> Certify(const CertificateRequest& request, std::int64_t seconds,
                                           const std::string& out) const;

  std::string directory_;
  std::int64_t now_unix_s_;
  CertificatePtr certificate_;
  KeyPtr key_;
};

}  // namespace bspnow

#endif  // NET_TLS_AUTHORITY_H_
