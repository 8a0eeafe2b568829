#include "client/content.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "base/check.h"
#include "base/unique_fd.h"

namespace bspnow {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::uint32_t kPermissions = 0777;

absl::Status Unreadable(const std::string& path) {
  const std::string message = absl::StrCat("file ", path, ": ", strerror(errno));
  return errno == EACCES ? absl::PermissionDeniedError(message) : absl::NotFoundError(message);
}

class Sha256 {
 public:
  Sha256() : state_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    BSP_CHECK(EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) == 1);
  }

  void Add(const char* data, std::size_t bytes) {
    BSP_CHECK(EVP_DigestUpdate(state_.get(), data, bytes) == 1);
  }

  std::string Hexadecimal() {
    std::string digest(EVP_MAX_MD_SIZE, '\0');
    unsigned int bytes = 0;
    BSP_CHECK(EVP_DigestFinal_ex(state_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                                 &bytes) == 1);
    digest.resize(bytes);
    return absl::BytesToHexString(digest);
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state_;
};

}  // namespace

absl::StatusOr<Content> ReadContent(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!file.valid() || fstat(file.get(), &status) != 0) return Unreadable(path);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("file ", path, " is no ordinary file"));
  }
  Content content{.path = path, .sha256 = "", .bytes = 0, .mode = status.st_mode & kPermissions};
  Sha256 hash;
  std::vector<char> buffer(kReadBytes);
  ssize_t n;
  while ((n = read(file.get(), buffer.data(), buffer.size())) > 0) {
    hash.Add(buffer.data(), static_cast<std::size_t>(n));
    content.bytes += static_cast<std::uint64_t>(n);
  }
  if (n < 0) return Unreadable(path);
  content.sha256 = hash.Hexadecimal();
  return content;
}

}  // namespace bspnow
