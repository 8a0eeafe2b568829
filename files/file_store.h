// The files that a job left behind, in a directory: taken in as they come from another machine, and
// listed to be sent. May be used by any thread.
#ifndef FILES_FILE_STORE_H_
#define FILES_FILE_STORE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/durable_file.h"
#include "base/unique_fd.h"
#include "files/file_sink.h"
#include "files/unfinished_files.h"

namespace bspnow::files {

/// What files take of a limit, in the order of their names. One without bytes takes room, too, and
/// so does each directory that leads to it: of a disk, inodes.
class FileSizes {
 public:
  static constexpr std::uint64_t kEntryBytesLeast = 4096;

  std::uint64_t Next(std::string_view name, std::uint64_t bytes);

 private:
  std::string last_name_;
};

/// Takes the files of one job, one after the other. Two may take the same ones at a time, into the
/// same directory: a file is there once either has all of it.
class FileReceiver final : public FileSink {
 public:
  struct Settings {
    std::string directory;    ///< Files go below it; it is made.
    std::uint64_t bytes_max;  ///< Of all together, as FileSizes counts.
    Durability durability;    ///< Synced: all of them stay after a crash of the machine.
    std::shared_ptr<UnfinishedFiles> unfinished = std::make_shared<UnfinishedFiles>();
  };

  explicit FileReceiver(Settings settings)
      : settings_(std::move(settings)), left_bytes_(settings_.bytes_max) {}
  ~FileReceiver() override;
  FileReceiver(const FileReceiver&) = delete;
  FileReceiver& operator=(const FileReceiver&) = delete;

  absl::Status Begin(const FileHead& head) override;
  absl::Status Append(std::string_view bytes) override;
  absl::Status AppendHole(std::uint64_t bytes) override;
  absl::Status OnUnread(std::string_view why) override;
  absl::Status Finish() override;

  /// In the order in which they came.
  const std::vector<std::string>& names() const { return names_; }

 private:
  absl::Status Make(const std::string& directory, mode_t mode);
  absl::Status EndFile();
  absl::Status TooMany() const;

  const Settings settings_;
  FileSizes sizes_;
  std::uint64_t left_bytes_;
  std::vector<std::string> names_;  ///< The last is the file that is being taken.
  std::uint64_t missing_bytes_ = 0;
  std::string coming_;  ///< Its path until it is whole; empty: none is being taken.
  UniqueFd fd_;
  /// That of the files; opened before the first file, so that errors of all of them are reported.
  UniqueFd file_system_;
};

struct StoredFile {
  std::string name;
  std::uint64_t bytes;
  std::uint32_t mode;
  std::int64_t changed_ns;  ///< Since 1970.
  std::string path;
};

struct FilesFound {
  std::vector<StoredFile> files;  ///< In the order of their names.
  /// "directory a/b", and why: what could not be looked at, and may hold files.
  std::map<std::string, std::string> left_out;
};

/// Regular files; no link is followed, and what FileReceiver has not got whole is none. Without the
/// directory: none.
absl::StatusOr<FilesFound> FilesBelow(const std::string& directory);

/// All files below `directory` by name, or those in `names`, each once; NotFound says which one is
/// missing.
absl::StatusOr<std::vector<StoredFile>> ListFiles(const std::string& directory,
                                                  const std::vector<std::string>& names);

}  // namespace bspnow::files

#endif  // FILES_FILE_STORE_H_
