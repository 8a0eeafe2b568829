// Files that appear under their name only when they are whole and on the disk: written under a
// temporary name, synced, renamed.
#ifndef BASE_DURABLE_FILE_H_
#define BASE_DURABLE_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace bspnow {

/// What was created or renamed there stays so after a crash of the machine.
absl::Status SyncDirectory(const std::string& path);

/// A file in the making; goes away unless it is committed.
class DurableFile {
 public:
  /// What such a file is called before it is committed begins so.
  static constexpr std::string_view kTemporaryPrefix = ".new-";

  /// In the directory where it is to stand in the end.
  static absl::StatusOr<DurableFile> Create(const std::string& directory);

  DurableFile(DurableFile&&) noexcept = default;
  ~DurableFile();

  absl::Status Append(std::string_view bytes);

  /// The file is at directory/name now, whatever was there before, and stays there after a crash.
  absl::Status Commit(const std::string& name);

 private:
  DurableFile(std::string directory, std::string temporary, UniqueFd fd)
      : directory_(std::move(directory)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

  std::string directory_;
  std::string temporary_;  ///< Its path; empty once it was moved away.
  UniqueFd fd_;            ///< Invalid once committed.
};

/// `path` holds `bytes` now, after a crash either these or what it held before.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

}  // namespace bspnow

#endif  // BASE_DURABLE_FILE_H_
