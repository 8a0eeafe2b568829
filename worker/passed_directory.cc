#include "worker/passed_directory.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace bspnow::worker {
namespace {

constexpr mode_t kMode = S_IRWXU | S_IXGRP | S_IXOTH;

}  // namespace

// Looked for first: a disk that takes nothing holds up whoever makes a directory on it, even one
// that is there.
void MakePassedDirectory(const std::string& path) {
  const std::filesystem::path directory = path;
  if (access(path.c_str(), F_OK) == 0) return;
  for (const std::filesystem::path& missing : {directory.parent_path(), directory}) {
    if (mkdir(missing.c_str(), kMode) != 0) continue;
    chmod(missing.c_str(), kMode);  // Whatever the umask.
    spdlog::warn("event=directory_made_anew path={}", missing.string());
  }
}

// The sticky bit is no help: it keeps nobody from making the directory of a job before the worker.
absl::Status CheckWriters(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("looking who may write to ", path));
  if ((found.st_mode & S_IWOTH) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat("everybody may write to ", path, ", and exchange what jobs have there: chmod ",
                     "o-w ", path, ", or give the worker a directory below it"));
  if (geteuid() != 0 || found.st_uid == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("this is root, and ", path, " is the directory of another user (uid ",
                   found.st_uid, "), who could exchange what jobs have there: chown root ", path,
                   ", give the worker another directory, or start it as that user"));
}

}  // namespace bspnow::worker
