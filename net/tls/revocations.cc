#include "net/tls/revocations.h"

#include <absl/strings/str_cat.h>
#include <errno.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "base/file_state.h"

namespace bspnow {
namespace {

std::string PathIn(const std::string& directory) {
  return absl::StrCat(directory, "/", kRevokedFile);
}

}  // namespace

absl::StatusOr<RevokedUntil> ReadRevoked(const std::string& directory) {
  const std::string path = PathIn(directory);
  RevokedUntil revoked;
  errno = 0;
  std::ifstream file(path);
  if (!file && errno == ENOENT) return revoked;
  if (!file) return absl::ErrnoToStatus(errno, path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string role_name, name, more;
    std::int64_t until_unix_s = 0;
    const bool whole = static_cast<bool>(words >> role_name >> name >> until_unix_s);
    const std::optional<CertificateRole> role = ParseRole(role_name);
    if (!whole || !role || words >> more)
      return absl::FailedPreconditionError(absl::StrCat(
          path, ", line ", number, " is not as `bsp certs revoke` writes it; copy the ",
          "file from the CA again"));
    revoked[{*role, name}] = until_unix_s;
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat(path, " cannot be read to its end"));
  return revoked;
}

std::string RevokedText(const RevokedUntil& revoked) {
  std::string text;
  for (const auto& [whose, until_unix_s] : revoked)
    absl::StrAppend(&text, RoleName(whose.first), " ", whose.second, " ", until_unix_s, "\n");
  return text;
}

absl::Status Revocations::Check(const CertificateFacts& facts) {
  if (directory_.empty() || !facts.identity) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  ReadAgain();
  if (!revoked_.ok()) return revoked_.status();
  const auto found = revoked_->find({facts.identity->role, facts.identity->name});
  if (found == revoked_->end() || facts.begins_unix_s > found->second) return absl::OkStatus();
  return absl::UnauthenticatedError(
      absl::StrCat("the certificate of ", RoleName(facts.identity->role), " ", facts.identity->name,
                   " was revoked; `bsp certs rotate` or `bsp certs issue` makes another"));
}

void Revocations::ReadAgain() {
  struct stat now {};
  const std::string path = PathIn(directory_);
  if (stat(path.c_str(), &now) != 0 && errno != ENOENT) {
    revoked_ = absl::ErrnoToStatus(errno, path);
    return;
  }
  if (revoked_.ok() && IsSameState(seen_, now)) return;
  seen_ = now;
  revoked_ = ReadRevoked(directory_);
}

}  // namespace bspnow
