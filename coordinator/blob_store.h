// Contents by their SHA-256: the programs and files that travel with jobs. A content stands under
// its name only when it is whole, right and on the disk. May be used by any thread: the file system
// is all its state.
#ifndef COORDINATOR_BLOB_STORE_H_
#define COORDINATOR_BLOB_STORE_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/durable_file.h"
#include "base/unique_fd.h"
#include "files/sha256.h"

namespace bspnow {

/// The largest content that is taken.
inline constexpr std::uint64_t kBlobBytesMax = std::uint64_t{1} << 36;

/// A content on its way in.
class BlobUpload {
 public:
  absl::Status Append(std::string_view bytes);

  /// The content is in the store, and on the disk. Fails if it is not what was announced.
  absl::Status Commit();

 private:
  friend class BlobStore;

  BlobUpload(DurableFile file, std::string sha256, std::uint64_t bytes)
      : file_(std::move(file)), sha256_(std::move(sha256)), bytes_(bytes) {}

  DurableFile file_;
  std::string sha256_;
  std::uint64_t bytes_;  ///< Announced.
  std::uint64_t received_bytes_ = 0;
  Sha256 hash_;
};

class BlobStore {
 public:
  /// Removes what uploads that never ended have left.
  explicit BlobStore(std::string directory);

  /// A content that is there will stay there for a day from now, needed or not.
  bool Has(std::string_view sha256) const;

  absl::StatusOr<BlobUpload> Upload(std::string sha256, std::uint64_t bytes) const;

  /// A descriptor to read it from.
  absl::StatusOr<UniqueFd> Open(std::string_view sha256) const;

  /// Removes what is not in `needed` and was last asked for before `before_unix_s`. Returns how
  /// many.
  int RemoveUnneeded(const std::set<std::string>& needed, std::int64_t before_unix_s) const;

 private:
  std::string directory_;
};

}  // namespace bspnow

#endif  // COORDINATOR_BLOB_STORE_H_
