// For tests: the names of synced files. Takes the place of libc's calls in the whole program, so
// one file of a test includes it.
#ifndef BASE_SYNCED_PATHS_FOR_TEST_H_
#define BASE_SYNCED_PATHS_FOR_TEST_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>

namespace bspnow {

/// Of files and directories; of a file system that was synced as a whole the one that named it.
inline std::set<std::string>& SyncedPaths() {
  static std::set<std::string> paths;
  return paths;
}

inline int SyncAndNote(long call, int file) {
  std::error_code error;
  const auto name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), error);
  SyncedPaths().insert(name.string());
  return static_cast<int>(syscall(call, file));
}

}  // namespace bspnow

extern "C" int fsync(int file) { return bspnow::SyncAndNote(SYS_fsync, file); }
extern "C" int syncfs(int file) noexcept { return bspnow::SyncAndNote(SYS_syncfs, file); }

#endif  // BASE_SYNCED_PATHS_FOR_TEST_H_
