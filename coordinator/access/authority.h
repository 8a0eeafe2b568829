// Says who a caller is, by the token that his call bears or the certificate of his connection.
#ifndef COORDINATOR_ACCESS_AUTHORITY_H_
#define COORDINATOR_ACCESS_AUTHORITY_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include <absl/status/statusor.h>
#include "coordinator/access/login_tokens.h"
#include "coordinator/access/token_file.h"
#include "coordinator/core/caller.h"
#include "net/tls/certificate.h"

namespace bspnow::coordinator {

class Authority {
 public:
  Authority(const LoginTokens& login_tokens, const TokenFile& token_file)
      : login_tokens_(login_tokens), token_file_(token_file) {}

  /// `authorization`: "Bearer TOKEN", or empty: then the certificate counts. Unauthenticated
  /// without a good one of either, PermissionDenied if he may not do this. From any thread.
  absl::StatusOr<Caller> Permit(std::string_view authorization,
                                const std::optional<CertificateIdentity>& certificate, Scope scope);

  /// In the same way, whatever he may do.
  absl::StatusOr<Caller> Identify(std::string_view authorization,
                                  const std::optional<CertificateIdentity>& certificate) const;

  /// Calls that were not permitted.
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  absl::StatusOr<Caller> Decide(const absl::StatusOr<Caller>& caller, Scope scope) const;

  const LoginTokens& login_tokens_;
  const TokenFile& token_file_;
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_AUTHORITY_H_
