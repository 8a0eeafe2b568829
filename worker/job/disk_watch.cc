#include "worker/job/disk_watch.h"

#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/directory.h"
#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr int kEntriesMax = 1'000'000;
constexpr std::size_t kLevelsMax = PATH_MAX / 2;

std::uint64_t BytesOf(const struct stat& status) {
  return S_ISREG(status.st_mode) ? BytesTaken(status) : 0;
}

/// Goes down by descriptors, each of which costs a buffer of 32 KiB, and builds no path: a tree may
/// be as deep as its program likes. What is deeper than any path reaches is not looked for.
std::uint64_t BytesBelow(const std::string& directory) {
  std::uint64_t bytes = 0;
  std::vector<Directory> levels;
  const auto enter = [&levels](int at, const char* name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (levels.size() == kLevelsMax) return;
    Directory opened = DirectoryOf(UniqueFd(openat(at, name, kFlags)));
    if (opened) levels.push_back(std::move(opened));
  };
  enter(AT_FDCWD, directory.c_str());
  for (int entries = 0; !levels.empty() && entries < kEntriesMax; ++entries) {
    const dirent* const entry = readdir(levels.back().get());
    if (entry == nullptr) {
      levels.pop_back();
      continue;
    }
    const std::string_view name = entry->d_name;
    const int at = dirfd(levels.back().get());
    struct stat status {};
    if (name == "." || name == ".." ||
        fstatat(at, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    bytes += BytesOf(status);
    if (S_ISDIR(status.st_mode)) enter(at, entry->d_name);
  }
  return bytes;
}

/// A file of two processes counts once. Their descriptors are shown to themselves, and to root only
/// if it may trace other users' processes, which the daemon need not.
std::uint64_t BytesWithoutName(const JobFilesHere& files) {
  struct stat here {};
  if (stat(files.directory.c_str(), &here) != 0) return 0;
  const FilesAs as(files.account ? &*files.account : nullptr);
  std::uint64_t bytes = 0;
  std::set<ino_t> seen;
  for (const pid_t process : files.processes) {
    std::error_code error;
    for (fs::directory_iterator at(absl::StrCat("/proc/", process, "/fd"), error);
         !error && at != fs::end(at); at.increment(error)) {
      struct stat status {};
      if (stat(at->path().c_str(), &status) == 0 && status.st_nlink == 0 &&
          status.st_dev == here.st_dev && seen.insert(status.st_ino).second)
        bytes += BytesOf(status);
    }
  }
  return bytes;
}

}  // namespace

std::uint64_t BytesOnDisk(const JobFilesHere& files) {
  return BytesBelow(files.directory) + BytesWithoutName(files);
}

std::optional<FilledBy> WhoFills(const DiskRoom& room, const std::vector<JobFilesHere>& jobs) {
  if (room.missing_bytes() == 0) return std::nullopt;
  std::optional<FilledBy> most;
  for (const JobFilesHere& files : jobs) {
    const std::uint64_t bytes = BytesOnDisk(files);
    if (bytes > (most ? most->bytes : room.reserve_bytes())) most = FilledBy{files, bytes};
  }
  return most;
}

}  // namespace bspnow::worker
