// Says who a caller is by the token that his call bears.
#ifndef COORDINATOR_ACCESS_AUTHORITY_H_
#define COORDINATOR_ACCESS_AUTHORITY_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include <absl/status/statusor.h>
#include "coordinator/access/login_tokens.h"
#include "coordinator/core/caller.h"

namespace bspnow::coordinator {

class Authority {
 public:
  explicit Authority(const LoginTokens& login_tokens) : login_tokens_(login_tokens) {}

  /// `authorization`: "Bearer TOKEN", or empty. Unauthenticated without a token that is good,
  /// PermissionDenied if he may not do this. From any thread.
  absl::StatusOr<Caller> Permit(std::string_view authorization, Scope scope);

  /// Calls that were not permitted.
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  absl::StatusOr<Caller> Decide(std::string_view authorization, Scope scope) const;

  const LoginTokens& login_tokens_;
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_AUTHORITY_H_
