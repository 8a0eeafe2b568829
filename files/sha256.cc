#include "files/sha256.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "base/check.h"

namespace bspnow::files {
namespace {

constexpr std::size_t kDigits = 64;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

}  // namespace

absl::Status CheckSha256(std::string_view sha256) {
  const bool right = sha256.size() == kDigits &&
                     sha256.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (right) return absl::OkStatus();
  return absl::InvalidArgumentError("a content's name is its SHA-256: 64 digits of 0-9a-f");
}

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  BSP_CHECK(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::Add(std::string_view bytes) {
  BSP_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::Hexadecimal() {
  std::string hash(EVP_MAX_MD_SIZE, '\0');
  unsigned hash_bytes = 0;
  BSP_CHECK(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(hash.data()),
                               &hash_bytes) == 1);
  hash.resize(hash_bytes);
  return absl::BytesToHexString(hash);
}

absl::StatusOr<FileContent> ContentOf(int file, std::string_view what) {
  return ContentOf(file, what, [] { return false; });
}

absl::StatusOr<FileContent> ContentOf(int file, std::string_view what,
                                      const std::function<bool()>& stops) {
  Sha256 hash;
  std::string block(kBlockBytes, '\0');
  for (off_t at = 0;;) {
    if (stops()) return absl::CancelledError(absl::StrCat("reading ", std::string(what)));
    const ssize_t n = pread(file, block.data(), block.size(), at);
    if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", std::string(what)));
    if (n == 0)
      return FileContent{.sha256 = hash.Hexadecimal(), .bytes = static_cast<std::uint64_t>(at)};
    hash.Add(std::string_view(block).substr(0, static_cast<std::size_t>(n)));
    at += n;
  }
}

}  // namespace bspnow::files
