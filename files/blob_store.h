// Contents by their SHA-256: the programs and files that travel with jobs. A content stands under
// its name only when it is whole and right. May be used by any thread: the file system is all its
// state.
#ifndef FILES_BLOB_STORE_H_
#define FILES_BLOB_STORE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/durable_file.h"
#include "base/unique_fd.h"
#include "files/file_sink.h"
#include "files/sha256.h"

namespace bspnow::files {

/// The largest content that is taken.
inline constexpr std::uint64_t kBlobBytesMax = std::uint64_t{1} << 36;

struct StoredBlob {
  std::string sha256;
  std::uint64_t bytes;
  std::int64_t asked_ns;  ///< When it came or was asked for last, since 1970.
};

class BlobStore {
 public:
  /// Removes whatever lies there that is no content, such as uploads that never ended.
  explicit BlobStore(std::string directory);

  const std::string& directory() const { return directory_; }

  /// A content that is there will stay there for a day from now, needed or not.
  bool Has(std::string_view sha256) const;

  /// A descriptor to read it from.
  absl::StatusOr<UniqueFd> Open(std::string_view sha256) const;

  absl::StatusOr<std::uint64_t> BytesOf(std::string_view sha256) const;

  /// Reads all of it; fails if it has another hash than its name. Returns how many bytes it has.
  absl::StatusOr<std::uint64_t> Verify(std::string_view sha256) const;

  /// Asked now and then, `stops` breaks this off, and the next: Cancelled.
  absl::StatusOr<std::uint64_t> Verify(std::string_view sha256,
                                       const std::function<bool()>& stops) const;

  /// Puts a copy at `path`, which must not exist, with these permission bits. DataLoss if that has
  /// another hash, and nothing is there then.
  absl::Status CopyTo(std::string_view sha256, const std::string& path, std::uint32_t mode,
                      const std::function<bool()>& stops) const;

  /// Those that were not asked for the longest come first.
  std::vector<StoredBlob> List() const;

  void Remove(std::string_view sha256) const;

  /// Removes what is not in `needed` and was last asked for before `before_unix_s`. Returns how
  /// many.
  int RemoveUnneeded(const std::set<std::string>& needed, std::int64_t before_unix_s) const;

 private:
  friend class BlobSink;

  std::string PathOf(std::string_view sha256) const;

  std::string directory_;
};

/// Takes one content into a store; its name is its hash. Until it is finished nothing is there.
class BlobSink final : public FileSink {
 public:
  BlobSink(const BlobStore& store, Durability durability)
      : store_(store), durability_(durability) {}

  absl::Status Begin(const FileHead& head) override;
  absl::Status Append(std::string_view bytes) override;

  /// Fails if the content is not what was announced.
  absl::Status Finish() override;

 private:
  const BlobStore& store_;
  const Durability durability_;
  FileHead head_;
  Sha256 hash_;
  std::optional<DurableFile> file_;
};

}  // namespace bspnow::files

#endif  // FILES_BLOB_STORE_H_
