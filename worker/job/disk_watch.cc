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

void Add(const struct stat& status, DiskUse& use) {
  use.inodes += 1;
  if (S_ISREG(status.st_mode)) use.bytes += BytesTaken(status);
}

/// Goes down by descriptors, each of which costs a buffer of 32 KiB, and builds no path: a tree may
/// be as deep as its program likes. What is deeper than any path reaches is not looked for.
DiskUse UseBelow(const std::string& directory) {
  DiskUse use{};
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
    Add(status, use);
    if (S_ISDIR(status.st_mode)) enter(at, entry->d_name);
  }
  return use;
}

constexpr char kNoName[] = " (deleted)";  // See proc(5).

/// A file of two processes counts once. Their descriptors are shown to themselves, and to root only
/// if it may trace other users' processes, which the daemon need not. A file that has its name is
/// not asked for: it may be on a server that is gone, and the thread would wait for that.
void AddWithoutName(const JobFilesHere& files, DiskUse& use) {
  struct stat here {};
  if (stat(files.directory.c_str(), &here) != 0) return;
  const FilesAs as(files.account ? &*files.account : nullptr);
  std::set<ino_t> seen;
  for (const pid_t process : files.processes) {
    std::error_code error;
    for (fs::directory_iterator at(absl::StrCat("/proc/", process, "/fd"), error);
         !error && at != fs::end(at); at.increment(error)) {
      std::error_code too_long;  // The name that it has, or had.
      const fs::path name = fs::read_symlink(at->path(), too_long);
      if (!too_long && !name.native().ends_with(kNoName)) continue;
      struct stat status {};
      if (stat(at->path().c_str(), &status) == 0 && status.st_nlink == 0 &&
          status.st_dev == here.st_dev && seen.insert(status.st_ino).second)
        Add(status, use);
    }
  }
}

}  // namespace

DiskUse UseOfDisk(const JobFilesHere& files) {
  DiskUse use = UseBelow(files.directory);
  AddWithoutName(files, use);
  return use;
}

std::optional<FilledBy> WhoFills(const DiskRoom& room, const std::vector<JobFilesHere>& jobs) {
  const Lacking lacking = room.missing_bytes() > 0 ? Lacking::kBytes : Lacking::kInodes;
  if (lacking == Lacking::kInodes && !room.lacks_inodes()) return std::nullopt;
  const auto of_that = [lacking](const DiskUse& use) {
    return lacking == Lacking::kBytes ? use.bytes : use.inodes;
  };
  std::uint64_t least = of_that({.bytes = room.reserve_bytes(), .inodes = room.reserve_inodes()});
  std::optional<FilledBy> most;
  for (const JobFilesHere& files : jobs) {
    const DiskUse use = UseOfDisk(files);
    if (of_that(use) <= least) continue;
    least = of_that(use);
    most = FilledBy{.files = files, .use = use, .lacking = lacking};
  }
  return most;
}

}  // namespace bspnow::worker
