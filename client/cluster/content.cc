#include "client/cluster/content.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/unique_fd.h"
#include "files/sha256.h"

namespace bspnow::client {
namespace {

absl::Status Unreadable(const std::string& path) {
  const std::string message = absl::StrCat("file ", path, ": ", strerror(errno));
  return errno == EACCES ? absl::PermissionDeniedError(message) : absl::NotFoundError(message);
}

}  // namespace

absl::StatusOr<Content> ReadContent(const std::string& path) {
  // Of a pipe the open would wait for who writes to it.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file.valid() || fstat(file.get(), &status) != 0) return Unreadable(path);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("file ", path, " is no ordinary file"));
  }
  const absl::StatusOr<files::FileContent> read = files::ContentOf(file.get(), path);
  if (!read.ok()) return read.status();
  return Content{.path = path,
                 .sha256 = read->sha256,
                 .bytes = read->bytes,
                 .mode = status.st_mode & ACCESSPERMS};
}

}  // namespace bspnow::client
