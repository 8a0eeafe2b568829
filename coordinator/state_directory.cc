#include "coordinator/state_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include "base/directory_listing.h"
#include "base/disk_room.h"
#include "base/durable_file.h"
#include "base/unique_fd.h"

namespace bspnow::coordinator {
namespace {

absl::Status NotMade(int error, const std::string& path) {
  return absl::ErrnoToStatus(
      error, absl::StrCat("making the directory ", path, LackOfInodes(error, path)));
}

// For nobody else: it has programs and output of all users. A directory that was there keeps its
// mode, since it is somebody's.
absl::Status MakeDirectory(const std::string& path) {
  std::error_code error;
  if (std::filesystem::create_directories(path, error)) chmod(path.c_str(), S_IRWXU);
  if (!error) return absl::OkStatus();
  return NotMade(error.value(), path);
}

// Who writes there makes himself an administrator, with a file of tokens. The owner always may.
absl::Status CheckWriters(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("looking who may write to ", path));
  if ((found.st_mode & S_IWOTH) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat("everybody may write to ", path, ", tokens of their own, too: chmod o-w ",
                     path, ", or give --state-dir another directory"));
  if (geteuid() != 0 || found.st_uid == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("this is root, and ", path, " is the directory of another user (uid ",
                   found.st_uid, "), who could write tokens there: start bsp-coordinator as that ",
                   "user, give --state-dir another directory, or chown -R root ", path));
}

absl::Status MakePart(const std::string& path) {
  if (mkdir(path.c_str(), S_IRWXU) != 0) {
    if (errno == EEXIST) return absl::OkStatus();
    return NotMade(errno, path);
  }
  // Whoever of its group may write to the state directory may put something else in its place.
  const UniqueFd made(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!made.valid() || fstat(made.get(), &found) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  const mode_t mode = found.st_mode & 07777 & ~S_ISGID;  // Which it has of the directory above.
  if (found.st_uid != geteuid() || mode != S_IRWXU)
    return absl::FailedPreconditionError(
        absl::StrCat(path, " was replaced while it was made; look who writes there"));
  if (fchmod(made.get(), S_IRWXU) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("setting the mode of ", path));
}

}  // namespace

absl::StatusOr<StateDirectory> StateDirectory::Open(const std::string& path) {
  if (absl::Status made = MakeDirectory(path); !made.ok()) return made;
  if (absl::Status safe = CheckWriters(path); !safe.ok()) return safe;
  for (const char* part : {"/blobs", "/senders", "/jobs"})
    if (absl::Status made = MakePart(path + part); !made.ok()) return made;
  return StateDirectory(path);
}

absl::StatusOr<StateDirectory> StateDirectory::OpenExisting(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return StateDirectory(path);
  if (error && error != std::errc::no_such_file_or_directory)
    return absl::ErrnoToStatus(error.value(), path);
  return absl::NotFoundError(
      absl::StrCat("there is no directory ", path, "; give the --state-dir of the coordinator"));
}

std::string StateDirectory::job(JobId job) const {
  return absl::StrCat(path_, "/jobs/", Value(job));
}

absl::Status StateDirectory::WriteAddress(const std::string& lines) const {
  return ReplaceFile(path_ + "/address", lines);
}

bool StateDirectory::HasServed() const {
  std::error_code error;
  return std::filesystem::exists(path_ + "/address", error) || error;  // Who opens it says why.
}

std::vector<JobId> StateDirectory::jobs() const {
  std::vector<JobId> found;
  for (const std::string& name : ListDirectory(path_ + "/jobs").names) {
    std::uint64_t number = 0;
    if (absl::SimpleAtoi(name, &number)) found.push_back(JobId{number});
  }
  return found;
}

absl::Status StateDirectory::RemoveJob(JobId job) const {
  std::error_code error;
  std::filesystem::remove_all(this->job(job), error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), absl::StrCat("removing ", this->job(job)));
}

}  // namespace bspnow::coordinator
