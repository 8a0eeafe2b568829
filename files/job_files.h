// The files of a job's directory at a checkpoint, in one archive: c<CHECKPOINT>.files.p<PID> beside
// the images. It holds directories, symbolic links, and regular files that are new or changed, as
// long as they were at the barrier, with their modes and times; and the lines of output that were
// not complete by then.
//
// The archive is a tar file (pax) without the holes of sparse files, then std::uint64_t: XXH3 of
// all of it, which tar(1) takes for padding. Its entries:
//
//   directory         the absolute path of the job's directory
//   files/<NAME>      what lies there; NAME as in files/file_name.h. A regular file that has more
//                     than one name is there once, then as hard links to that name
//   lines/PID.STREAM  an unfinished line
#ifndef FILES_JOB_FILES_H_
#define FILES_JOB_FILES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/unique_fd.h"

struct archive_entry;
struct stat;

namespace bspnow::files {

class ArchiveWriter;

/// A file that came with the job: not saved unless it has changed.
struct GivenFile {
  std::string name;  ///< Relative.
  std::uint64_t bytes;
  std::int64_t changed_ns;
  std::uint32_t mode;  ///< Its permissions.
};

/// Output of a process that had no newline yet, and so is in no log.
struct UnfinishedLine {
  Pid pid;
  std::uint32_t stream;  ///< As in OutputStream of proto/jobs.proto.
  std::string text;
};

/// What lies in a directory at one moment, while no process of the job runs. Small files are read
/// at once; larger ones are opened, so that they may be replaced or removed before they are written
/// to the archive, and grow; but cut they may not be, nor overwritten in place. (Of one that grows
/// it is not known whether it is overwritten, too.)
///
/// That one is overwritten is seen by its time. If a larger file was changed a moment ago, Note
/// waits until a change has another time: at most some 10 ms; 1 s or 2 where its time is a whole
/// second, as on file systems that know no parts of it.
class NotedFiles {
 public:
  static absl::StatusOr<NotedFiles> Note(const std::string& directory,
                                         const std::vector<GivenFile>& given);

  /// Writes the archive to an empty file; does not sync it.
  absl::Status Write(int file, const std::vector<UnfinishedLine>& lines) const;

 private:
  struct Noted {
    std::string name;
    std::uint32_t mode;  ///< Kind and permissions, as in st_mode.
    std::uint64_t bytes;
    std::int64_t changed_ns;
    std::string content;  ///< Of a small file; of a link, where it leads.
    std::string twin;     ///< The name before this one of the same file, if it has several.
    UniqueFd file;        ///< Of a larger file.
  };

  using GivenByName = std::map<std::string_view, const GivenFile*>;

  /// What tells a file from all others: device and inode.
  using FileNumber = std::pair<std::uint64_t, std::uint64_t>;

  static absl::Status WriteOne(const Noted& noted, ArchiveWriter& archive);
  static absl::Status WriteLarge(const Noted& noted, archive_entry* entry, ArchiveWriter& archive);
  static absl::Status CheckKept(const Noted& noted);
  absl::Status NoteOne(const std::string& path, const GivenByName& given);
  std::string FirstNameOf(const struct stat& status, const std::string& name);
  absl::Status NoteContent(const std::string& path, Noted& noted);
  void AwaitNewTimes() const;

  std::string directory_;
  std::vector<Noted> noted_;
  std::map<FileNumber, std::string> linked_;  ///< First names of files that have several.
  std::uint64_t content_bytes_ = 0;
  std::size_t large_ = 0;               ///< Have a descriptor.
  std::int64_t new_times_from_ns_ = 0;  ///< By the clock of file systems.
};

/// What an archive holds besides the files.
struct JobFilesFacts {
  std::string directory;  ///< Where it was: the absolute path of the job's directory.
  std::vector<UnfinishedLine> lines;
};

/// Reads the whole archive. DataLoss if it is damaged or incomplete.
absl::StatusOr<JobFilesFacts> VerifyJobFiles(const std::string& archive);

/// Verifies the archive, then puts its files into `directory`, over what has their names.
absl::StatusOr<JobFilesFacts> UnpackJobFiles(const std::string& archive,
                                             const std::string& directory);

/// Asked now and then, `stops` breaks that off: Cancelled.
absl::StatusOr<JobFilesFacts> UnpackJobFiles(const std::string& archive,
                                             const std::string& directory,
                                             const std::function<bool()>& stops);

}  // namespace bspnow::files

#endif  // FILES_JOB_FILES_H_
