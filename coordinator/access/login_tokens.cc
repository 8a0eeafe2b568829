#include "coordinator/access/login_tokens.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <sys/random.h>

#include <vector>

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include "base/check.h"

namespace bspnow::coordinator {
namespace {

const char kPrefix[] = "login.";

/// Of a token: the prefix, SCOPES.UNTIL_NS.USER in hexadecimal digits, and the code of all that.
struct Parts {
  std::string claims;
  std::string code;
};

std::optional<Parts> Split(const std::string& token) {
  const std::size_t last = token.rfind('.');
  if (!token.starts_with(kPrefix) || last == std::string::npos) return std::nullopt;
  return Parts{.claims = token.substr(0, last), .code = token.substr(last + 1)};
}

}  // namespace

LoginTokens::LoginTokens() {
  BSP_CHECK(getrandom(key_.data(), key_.size(), 0) == static_cast<ssize_t>(key_.size()));
}

std::string LoginTokens::CodeOf(const std::string& claims) const {
  unsigned char code[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  const unsigned char* const made =
      HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
           reinterpret_cast<const unsigned char*>(claims.data()), claims.size(), code, &bytes);
  BSP_CHECK(made != nullptr);
  return absl::BytesToHexString({reinterpret_cast<const char*>(code), bytes});
}

std::string LoginTokens::Make(const Caller& caller, std::uint64_t until_ns) const {
  const std::string claims =
      absl::StrCat(kPrefix, caller.scopes, ".", until_ns, ".", absl::BytesToHexString(caller.user));
  return absl::StrCat(claims, ".", CodeOf(claims));
}

std::optional<Caller> LoginTokens::CallerOf(const std::string& token, std::uint64_t now_ns) const {
  const std::optional<Parts> parts = Split(token);
  if (!parts) return std::nullopt;
  const std::string code = CodeOf(parts->claims);
  if (code.size() != parts->code.size() ||
      CRYPTO_memcmp(code.data(), parts->code.data(), code.size()) != 0)
    return std::nullopt;
  const std::vector<std::string> claims =
      absl::StrSplit(parts->claims.substr(strlen(kPrefix)), '.');
  std::uint32_t scopes = 0;
  std::uint64_t until_ns = 0;
  BSP_CHECK(claims.size() == 3 && absl::SimpleAtoi(claims[0], &scopes) &&
            absl::SimpleAtoi(claims[1], &until_ns));  // By this program.
  if (now_ns >= until_ns) return std::nullopt;
  return Caller{.user = absl::HexStringToBytes(claims[2]), .scopes = static_cast<Scopes>(scopes)};
}

}  // namespace bspnow::coordinator
