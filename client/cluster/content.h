// What a file that travels with a job holds, by its hash.
#ifndef CLIENT_CLUSTER_CONTENT_H_
#define CLIENT_CLUSTER_CONTENT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

namespace bspnow::client {

/// A file as it was when it was read.
struct Content {
  std::string path;
  std::string sha256;  ///< Hexadecimal, 64 digits.
  std::uint64_t bytes;
  std::uint32_t mode;  ///< Permission bits.
};

/// Reads the whole file once. NotFound or PermissionDenied if it cannot be read.
absl::StatusOr<Content> ReadContent(const std::string& path);

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_CONTENT_H_
