// The SHA-256 of contents, and how it is written.
#ifndef FILES_SHA256_H_
#define FILES_SHA256_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // Of libssl.

namespace bspnow::files {

/// Ok if it is 64 hexadecimal digits, in lower case: a file name without a path, too.
absl::Status CheckSha256(std::string_view sha256);

class Sha256 {
 public:
  Sha256();

  void Add(std::string_view bytes);

  /// Of all that was added, 64 hexadecimal digits. Once.
  std::string Hexadecimal();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// What a file holds.
struct FileContent {
  std::string sha256;
  std::uint64_t bytes;
};

/// Reads a whole file, from its first byte. Errors name `what`.
absl::StatusOr<FileContent> ContentOf(int file, std::string_view what);

/// Asked now and then, `stops` breaks that off: Cancelled.
absl::StatusOr<FileContent> ContentOf(int file, std::string_view what,
                                      const std::function<bool()>& stops);

}  // namespace bspnow::files

#endif  // FILES_SHA256_H_
