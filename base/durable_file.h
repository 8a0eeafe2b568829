// Files that appear under their name only when they are whole: written under a temporary name,
// synced, renamed.
#ifndef BASE_DURABLE_FILE_H_
#define BASE_DURABLE_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace bspnow {

/// Files that were created or renamed there stay so after a crash of the machine.
absl::Status SyncDirectory(const std::string& path);

enum class Durability {
  kSynced,
  kCached,  ///< To be read soon; after a crash of this machine it may be damaged.
};

/// A file in the making; it is removed unless it is committed.
class DurableFile {
 public:
  /// The name of such a file begins so before it is committed.
  static constexpr std::string_view kTemporaryPrefix = ".new-";

  /// In the directory where it is to stand in the end.
  static absl::StatusOr<DurableFile> Create(const std::string& directory) {
    return Create(directory, kTemporaryPrefix);
  }
  /// With another beginning of its temporary name.
  static absl::StatusOr<DurableFile> Create(const std::string& directory, std::string_view prefix);

  DurableFile(DurableFile&&) noexcept = default;
  ~DurableFile();

  absl::Status Append(std::string_view bytes);

  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  std::string temporary_name() const { return temporary_.substr(directory_.size() + 1); }

  /// The file is at directory/name now, whatever was there before; if it is synced it stays there
  /// after a crash. After a failure it may be there (see `renamed`), but not durable.
  absl::Status Commit(const std::string& name, Durability durability);

  bool renamed() const { return !fd_.valid(); }

 private:
  DurableFile(std::string directory, std::string temporary, UniqueFd fd)
      : directory_(std::move(directory)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

  std::string directory_;
  std::string temporary_;  ///< Its path.
  std::uint64_t bytes_ = 0;
  std::uint64_t begun_bytes_ = 0;  ///< That the disk writes already.
  UniqueFd fd_;                    ///< Invalid once renamed.
};

/// `path` holds `bytes` now, after a crash either these or what it held before. It is whose it was,
/// or else the directory's owner's, for him alone (file_owner.h).
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

}  // namespace bspnow

#endif  // BASE_DURABLE_FILE_H_
