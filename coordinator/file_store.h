// The files that a job left behind: taken in as its pid 0's node sends them, and read again by
// clients. May be used by any thread.
#ifndef COORDINATOR_FILE_STORE_H_
#define COORDINATOR_FILE_STORE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/unique_fd.h"

namespace bspnow {

/// Takes the files of one job, one after the other.
class FileReceiver {
 public:
  /// Files go below `directory`, which is made. Together at most `bytes_max`.
  FileReceiver(std::string directory, std::uint64_t bytes_max)
      : directory_(std::move(directory)), left_bytes_(bytes_max) {}

  struct Head {
    std::string name;
    std::uint64_t bytes;
    std::uint32_t mode;  ///< Permission bits; others are not taken.
  };

  /// The next file; the one before must be whole.
  absl::Status Begin(const Head& head);
  absl::Status Append(std::string_view bytes);
  /// No more files; the last must be whole. All of them stay after a crash of the machine.
  absl::Status Finish();

 private:
  absl::Status EndFile();

  std::string directory_;
  std::uint64_t left_bytes_;
  std::string name_;  ///< Of the file that is being taken.
  std::uint64_t missing_bytes_ = 0;
  UniqueFd fd_;
  UniqueFd
      file_system_;  ///< That of the files; opened before the first, so that it hears of errors.
};

struct StoredFile {
  std::string name;
  std::uint64_t bytes;
  std::uint32_t mode;
  std::string path;
};

/// All files below `directory` by name, or those that `names` lists; NOT_FOUND says what lacks.
absl::StatusOr<std::vector<StoredFile>> ListFiles(const std::string& directory,
                                                  const std::vector<std::string>& names);

}  // namespace bspnow

#endif  // COORDINATOR_FILE_STORE_H_
