// --output: the file for what a job prints.
#ifndef CLIENT_OPTIONS_OUTPUT_FILE_H_
#define CLIENT_OPTIONS_OUTPUT_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "files/unfinished_files.h"

namespace bspnow::client {

/// What is wrong with the argument of --output, in which %j is the job's id and %% a %; empty:
/// nothing.
std::string CheckOutputPattern(const std::string& pattern);

/// The file's name has to wait for the job's id.
bool HasJobId(const std::string& pattern);

/// Of a pattern that was checked.
std::string OutputPath(const std::string& pattern, std::uint64_t job);

/// The file, emptied.
absl::StatusOr<UniqueFd> OpenOutput(const std::string& path);

/// A file that is replaced once it is whole: the old one may be all that is left of a job. What is
/// no ordinary file of ours, /dev/stdout for one, has other names, may not be written to, or lies
/// where none can be made, is opened in its place, which may be refused.
class OutputFile {
 public:
  static absl::StatusOr<OutputFile> Create(const std::string& path,
                                           std::shared_ptr<files::UnfinishedFiles> unfinished);
  OutputFile(OutputFile&& other) noexcept
      : unfinished_(std::move(other.unfinished_)),
        path_(std::move(other.path_)),
        beside_(std::exchange(other.beside_, "")),
        fd_(std::move(other.fd_)) {}

  /// What is not committed leaves nothing, unless this process is killed.
  ~OutputFile();

  int fd() const { return fd_.get(); }

  /// The file stands under its name from now on; once is enough.
  absl::Status Commit();

 private:
  static absl::StatusOr<OutputFile> Beside(const std::string& path,
                                           std::shared_ptr<files::UnfinishedFiles> unfinished);
  OutputFile(std::shared_ptr<files::UnfinishedFiles> unfinished, std::string path,
             std::string beside, UniqueFd fd)
      : unfinished_(std::move(unfinished)),
        path_(std::move(path)),
        beside_(std::move(beside)),
        fd_(std::move(fd)) {}

  std::shared_ptr<files::UnfinishedFiles> unfinished_;
  std::string path_;
  std::string beside_;  ///< Its path until then; empty: `path_`.
  UniqueFd fd_;
};

/// Whether a file of this pattern could be written later, as far as that can be told before the
/// job's id is known.
absl::Status CheckOutputPlace(const std::string& pattern);

/// From now on the file is this program's standard output.
absl::Status RedirectOutput(const std::string& path);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_OUTPUT_FILE_H_
