#include "base/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/directory.h"
#include "base/unique_fd.h"

namespace bspnow {
namespace {

using Clock = std::chrono::steady_clock;

/// All permissions for us. Of a directory alone: a file that a live process puts in its place may
/// be another's by a hard link.
bool Permit(int parent, const char* name) {
  const UniqueFd file(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return file.valid() &&
         chmod(("/proc/self/fd/" + std::to_string(file.get())).c_str(), S_IRWXU) == 0;
}

/// Readable and writable, if it is ours.
Directory Open(int parent, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd file(openat(parent, name, kFlags));
  if (!file.valid() && errno == EACCES && Permit(parent, name))
    file = UniqueFd(openat(parent, name, kFlags));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0) return nullptr;
  if ((status.st_mode & S_IRWXU) != S_IRWXU) fchmod(file.get(), S_IRWXU);
  return DirectoryOf(std::move(file));
}

bool IsItselfOrParent(const char* name) {
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/// Directories below those of `top` become directories of `top`, so that none is deep.
class Flattening {
 public:
  Flattening(Directory top, Clock::time_point until) : top_(std::move(top)), until_(until) {}

  /// False if nothing could be removed or moved in time.
  bool Pass() {
    bool any = false;
    rewinddir(top_.get());
    while (const dirent* const entry = Next(top_.get())) {
      if (IsItselfOrParent(entry->d_name)) continue;
      const std::string name = entry->d_name;
      any |= unlinkat(top(), name.c_str(), 0) == 0 || Empty(name);
    }
    return any;
  }

 private:
  const dirent* Next(DIR* directory) const {
    return Clock::now() < until_ ? readdir(directory) : nullptr;
  }

  int top() const { return dirfd(top_.get()); }

  bool Empty(const std::string& name) {
    const Directory directory = Open(top(), name.c_str());
    if (!directory) return false;
    bool any = false;
    const int fd = dirfd(directory.get());
    while (const dirent* const entry = Next(directory.get())) {
      if (IsItselfOrParent(entry->d_name)) continue;
      any |= unlinkat(fd, entry->d_name, 0) == 0 ||
             unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0 || Raise(fd, entry->d_name);
    }
    return unlinkat(top(), name.c_str(), AT_REMOVEDIR) == 0 || any;
  }

  // Its ".." changes, so it must be writable.
  bool Raise(int parent, const char* name) {
    return Move(parent, name) || (errno == EACCES && Permit(parent, name) && Move(parent, name));
  }

  bool Move(int parent, const char* name) {
    for (;;) {
      const std::string above = std::to_string(next_++);
      if (renameat(parent, name, top(), above.c_str()) == 0) return true;
      if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return false;
    }
  }

  const Directory top_;
  const Clock::time_point until_;
  std::uint64_t next_ = 0;
};

}  // namespace

bool RemoveTree(const std::string& path, std::chrono::milliseconds lasts_at_most, int at) {
  const Clock::time_point until = Clock::now() + lasts_at_most;
  if (unlinkat(at, path.c_str(), 0) == 0 || errno == ENOENT) return true;
  Directory top = Open(at, path.c_str());
  if (!top) return false;
  Flattening flattening(std::move(top), until);
  do {
    if (unlinkat(at, path.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  } while (flattening.Pass());
  return false;
}

}  // namespace bspnow
