#include "coordinator/access/authority.h"

#include <optional>
#include <string>

#include <absl/strings/str_cat.h>
#include "base/clock.h"

namespace bspnow::coordinator {
namespace {

constexpr std::int64_t kMsPerS = 1000;
constexpr std::string_view kBearer = "Bearer ";

const char* WhatFor(Scope scope) {
  switch (scope) {
    case Scope::kRead:
      return "look at the cluster";
    case Scope::kSubmit:
      return "submit jobs or see to them: that takes the scope submit";
    case Scope::kAdmin:
      return "do what an administrator does";
    case Scope::kJoin:
      return "join as a worker";
  }
  return "";
}

Caller CallerOf(const CertificateIdentity& certificate) {
  switch (certificate.role) {
    case CertificateRole::kClient:
      return {.user = certificate.user, .scopes = kScopesOfUser};
    case CertificateRole::kAdmin:
      return {.user = certificate.user, .scopes = kAllScopes};
    case CertificateRole::kWorker:
      return {.user = certificate.name, .scopes = static_cast<Scopes>(Scope::kJoin)};
    case CertificateRole::kCoordinator:
      break;
  }
  return {.user = certificate.name, .scopes = 0};
}

}  // namespace

absl::StatusOr<Caller> Authority::Permit(std::string_view authorization,
                                         const ShownCertificate& certificate, Scope scope) const {
  return Decide(Identify(authorization, certificate), scope);
}

absl::StatusOr<Caller> Authority::Identify(std::string_view authorization,
                                           const ShownCertificate& shown) const {
  // Whatever token comes with it: who has a stolen certificate may have stolen that, too.
  if (!shown.ok()) return shown.status();
  const std::optional<CertificateFacts>& certificate = *shown;
  if (certificate)
    if (absl::Status revoked = revocations_.Check(*certificate); !revoked.ok()) return revoked;
  if (authorization.empty() && certificate) return CallerOf(*certificate->identity);
  if (!authorization.starts_with(kBearer)) {
    return absl::UnauthenticatedError(
        "the call bears no token; on the coordinator's machine its login socket gives one "
        "(BSP_LOGIN_SOCKET), elsewhere a certificate (--tls) or a file that holds a token "
        "(BSP_TOKEN_FILE) says who you are");
  }
  const std::string token(authorization.substr(kBearer.size()));
  if (const auto caller = login_tokens_.CallerOf(token, NowNs())) return *caller;
  if (const auto caller = token_file_.CallerOf(token, UnixMs() / kMsPerS)) return *caller;
  return absl::UnauthenticatedError(
      "the token is not one of this coordinator, or it has ended; "
      "`bsp-coordinator --new-token` makes another");
}

CallerNow Authority::Remember(std::string_view authorization, const ShownCertificate& shown) const {
  if (!shown.ok()) return [] { return std::nullopt; };
  std::optional<Caller> of_login;
  if (authorization.starts_with(kBearer))
    of_login = login_tokens_.CallerOf(std::string(authorization.substr(kBearer.size())), NowNs());
  return [this, of_login, bears = std::string(authorization),
          certificate = *shown]() -> std::optional<Caller> {
    if (of_login)
      return !certificate || revocations_.Check(*certificate).ok() ? of_login : std::nullopt;
    // Calls show it each time; here nobody does.
    if (bears.empty() && certificate && UnixMs() / kMsPerS > certificate->ends_unix_s)
      return std::nullopt;
    const absl::StatusOr<Caller> caller = Identify(bears, certificate);
    return caller.ok() ? std::optional(*caller) : std::nullopt;
  };
}

absl::StatusOr<Caller> Authority::Decide(const absl::StatusOr<Caller>& caller, Scope scope) const {
  if (!caller.ok() || caller->May(scope) || caller->May(Scope::kAdmin)) return caller;
  return absl::PermissionDeniedError(
      absl::StrCat("user ", caller->user, " may not ", WhatFor(scope)));
}

}  // namespace bspnow::coordinator
