#include "base/file_owner.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bspnow {
namespace {

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

absl::Status TakeOwnerAndMode(int fd, const std::string& path, mode_t mode) {
  struct stat made {};
  struct stat model {};
  const bool is_there = lstat(path.c_str(), &model) == 0 && S_ISREG(model.st_mode);
  if (fstat(fd, &made) != 0 || (!is_there && stat(DirectoryOf(path).c_str(), &model) != 0))
    return absl::ErrnoToStatus(errno, absl::StrCat("looking whose ", path, " is"));
  // The group of a directory says who makes files there, not who reads them.
  const bool differs = model.st_uid != made.st_uid || (is_there && model.st_gid != made.st_gid);
  if (differs && fchown(fd, model.st_uid, model.st_gid) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("giving ", path, " to its owner"));
  if (fchmod(fd, is_there ? model.st_mode & 07777 : mode) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("setting the mode of ", path));
}

}  // namespace bspnow
