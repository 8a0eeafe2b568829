// Says who a caller is, by the token that his call bears or the certificate of his connection.
#ifndef COORDINATOR_ACCESS_AUTHORITY_H_
#define COORDINATOR_ACCESS_AUTHORITY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include "coordinator/access/login_tokens.h"
#include "coordinator/access/token_file.h"
#include "coordinator/core/caller.h"
#include "net/tls/certificate.h"
#include "net/tls/revocations.h"

namespace bspnow::coordinator {

/// Who a caller is by now, as what proved him once proves it; nothing when that counts no more.
using CallerNow = std::function<std::optional<Caller>()>;

class Authority {
 public:
  /// `tls_dir`: with the revocations that count; empty if there is no TLS.
  Authority(const LoginTokens& login_tokens, const TokenFile& token_file,
            const std::string& tls_dir)
      : login_tokens_(login_tokens),
        token_file_(token_file),
        tls_dir_(tls_dir),
        revocations_(tls_dir) {}

  const std::string& tls_dir() const { return tls_dir_; }

  /// `authorization`: "Bearer TOKEN", or empty: then the certificate counts, unless it is revoked,
  /// on connections that were made before, too. `certificate`: with an identity. Unauthenticated
  /// without a good one of either, or with a certificate that does not count, whatever the token;
  /// PermissionDenied if he may not do this. From any thread.
  absl::StatusOr<Caller> Permit(std::string_view authorization, const ShownCertificate& certificate,
                                Scope scope) const;

  /// In the same way, whatever he may do.
  absl::StatusOr<Caller> Identify(std::string_view authorization,
                                  const ShownCertificate& certificate) const;

  /// The same for later, of a caller who is proven now. The login socket's token is for a minute,
  /// but stands for a user of this machine, who stays one. Lives no longer than the authority.
  CallerNow Remember(std::string_view authorization, const ShownCertificate& certificate) const;

 private:
  absl::StatusOr<Caller> Decide(const absl::StatusOr<Caller>& caller, Scope scope) const;

  const LoginTokens& login_tokens_;
  const TokenFile& token_file_;
  const std::string tls_dir_;
  mutable Revocations revocations_;  ///< It reads its file again.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_AUTHORITY_H_
