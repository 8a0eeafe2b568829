#include "coordinator/access/authority.h"

#include <optional>

#include <absl/strings/str_cat.h>
#include "base/clock.h"

namespace bspnow::coordinator {
namespace {

constexpr std::string_view kBearer = "Bearer ";

const char* WhatFor(Scope scope) {
  switch (scope) {
    case Scope::kRead:
      return "look at the cluster";
    case Scope::kSubmit:
      return "submit jobs";
    case Scope::kAdmin:
      return "do what an administrator does";
    case Scope::kJoin:
      return "join as a worker";
  }
  return "";
}

}  // namespace

absl::StatusOr<Caller> Authority::Permit(std::string_view authorization, Scope scope) {
  absl::StatusOr<Caller> caller = Decide(authorization, scope);
  if (!caller.ok()) refused_.fetch_add(1, std::memory_order_relaxed);
  return caller;
}

absl::StatusOr<Caller> Authority::Decide(std::string_view authorization, Scope scope) const {
  if (!authorization.starts_with(kBearer)) {
    return absl::UnauthenticatedError(
        "the call bears no token; on the coordinator's machine its login socket gives one "
        "(BSP_LOGIN_SOCKET), elsewhere name a file that holds one (BSP_TOKEN_FILE)");
  }
  const std::string token(authorization.substr(kBearer.size()));
  const std::optional<Caller> caller = login_tokens_.CallerOf(token, NowNs());
  if (!caller)
    return absl::UnauthenticatedError("the token is not one of this coordinator, or it is over");
  if (!caller->May(scope) && !caller->May(Scope::kAdmin)) {
    return absl::PermissionDeniedError(
        absl::StrCat("user ", caller->user, " may not ", WhatFor(scope)));
  }
  return *caller;
}

}  // namespace bspnow::coordinator
