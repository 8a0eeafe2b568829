#include "worker/state_directory.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/durable_file.h"
#include "worker/passed_directory.h"

namespace bspnow::worker {

namespace fs = std::filesystem;

absl::StatusOr<StateDirectory> StateDirectory::Open(const std::string& path) {
  std::error_code error;
  for (const char* part : {"", "/jobs", "/cache"}) {
    fs::create_directories(path + part, error);
    // Programs of another user pass through, to the directory of their job, and see nothing else.
    const mode_t passed = strcmp(part, "/cache") == 0 ? 0 : S_IXGRP | S_IXOTH;
    struct stat made {};
    if (!error && stat((path + part).c_str(), &made) == 0 && made.st_uid == geteuid())
      chmod((path + part).c_str(), made.st_mode & (S_IRWXU | passed));
    if (error)
      return absl::InternalError(absl::StrCat("making ", path, part, ": ", error.message()));
    if (absl::Status safe = CheckWriters(path + part); !safe.ok()) return safe;
  }
  const std::string name = path + "/lock";
  UniqueFd lock(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const bool locked = lock.valid() && flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK)
    return absl::FailedPreconditionError(
        absl::StrCat("another worker uses ", path, "; give each its own"));
  if (!locked) return absl::ErrnoToStatus(errno, absl::StrCat("locking ", name));
  StateDirectory directory(path, std::move(lock));
  directory.RemoveAddress();
  return directory;
}

absl::Status StateDirectory::WriteAddress(const std::string& lines) const {
  return ReplaceFile(path_ + "/address", lines);
}

void StateDirectory::RemoveAddress() const {
  std::error_code error;
  fs::remove(path_ + "/address", error);
}

}  // namespace bspnow::worker
